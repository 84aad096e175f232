import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startGantry } from '../support/gantry.ts'
import { gantryHook, guardEnv } from '../support/hook-process.ts'
import { makeProject, type TestProject } from '../support/project.ts'

let project: TestProject

beforeEach(() => {
  project = makeProject({
    'AGENTS.md': '## Verification\n\n- `sh test.sh`\n',
    'test.sh': 'test "$(cat sum.txt)" = 3\n',
    'sum.txt': '3\n',
  })
})
afterEach(() => project[Symbol.dispose]())

function verify(...flags: readonly string[]) {
  return startGantry(project, ['guard', 'verify', ...flags], { env: guardEnv(project) }).ended
}

function hook(event: string, fields: Readonly<Record<string, unknown>> = {}) {
  const payload = { session_id: 's1', prompt_id: 'p1', cwd: project.dir, hook_event_name: event, ...fields }
  return gantryHook(project, ['--agent', 'claude-code'], payload)
}

/** An agent that changed a file and ran nothing. */
async function edited(): Promise<void> {
  await hook('SessionStart', { source: 'startup' })
  const call = {
    tool_name: 'Write',
    tool_use_id: 't1',
    tool_input: { file_path: project.path('notes.ts'), content: 'x' },
  }
  await hook('PreToolUse', call)
  project.write({ 'notes.ts': 'x' })
  await hook('PostToolUse', { ...call, tool_response: { filePath: project.path('notes.ts') } })
}

const stop = () => hook('Stop', { stop_hook_active: false })

describe('the verdict', () => {
  test('is green when every declared command is, with exit code 0', async () => {
    const { code, stdout, stderr } = await verify()
    expect(stdout).toMatch(/^ {2}green {2}sh test\.sh {2}other {2}exit 0 \(\d+ms\)\n/)
    expect(stdout).toContain('Every check is green for the current files.')
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'running sh test.sh\n' })
  })

  test('is red when one fails, with exit code 1', async () => {
    project.write({ 'sum.txt': '4\n' })
    const { code, stdout } = await verify()
    expect(stdout).toMatch(/^ {2}red {4}sh test\.sh {2}other {2}exit 1 /)
    expect(stdout).toContain('Not every check is green.')
    expect(code).toBe(1)
  })

  test('is red for a run that proves nothing because it changed its tree', async () => {
    project.write({ 'test.sh': 'date +%s%N > stamp.txt\n' })
    const { code, stdout } = await verify()
    expect(stdout).toContain('proves nothing: ')
    expect(code).toBe(1)
  })

  test('is absent when nothing is declared, with exit code 4', async () => {
    project.write({ 'AGENTS.md': 'Nothing.\n' })
    rmSync(project.path('test.sh'))
    const { code, stdout } = await verify()
    expect(stdout).toContain('No verification command is known.')
    expect(code).toBe(4)
  })

  test('counts a single test as one', async () => {
    project.write({ 'AGENTS.md': '- `pytest -q`\n', 'bin/pytest': '#!/bin/sh\necho "1 passed in 0.01s"\n' })
    const path = `${project.path('bin')}:${process.env.PATH}`
    const env = { ...guardEnv(project), PATH: path }
    const { stdout } = await startGantry(project, ['guard', 'verify'], { env }).ended
    expect(stdout).toContain('exit 0, 1 test (')
  })
})

test('--json prints one document and nothing else on standard output', async () => {
  const { code, stdout } = await verify('--json')
  expect(JSON.parse(stdout)).toEqual({
    root: project.dir,
    verdict: 'green',
    runs: [expect.objectContaining({ command: 'sh test.sh', kind: 'other', exitCode: 0 })],
    weakened: [],
    sealed: [],
    missing: [],
  })
  expect(code).toBe(0)
  project.write({ 'AGENTS.md': '' })
  rmSync(project.path('test.sh'))
  expect(JSON.parse((await verify('--json')).stdout)).toMatchObject({ verdict: 'nothing_declared', runs: [] })
})

test('--root names a project elsewhere, and a missing one is a usage error', async () => {
  const elsewhere = { env: guardEnv(project), cwd: project.home }
  const there = startGantry(project, ['guard', 'verify', '--root', project.dir], elsewhere)
  expect((await there.ended).code).toBe(0)
  const gone = await verify('--root', 'nowhere')
  expect(gone.code).toBe(2)
  expect(gone.stderr).toContain('nowhere is not a directory')
})

describe('at a stop', () => {
  test('its green evidence is accepted, and was missing before', async () => {
    await edited()
    const refused = await stop()
    expect(JSON.parse(refused.stdout)).toMatchObject({
      decision: 'block',
      reason: expect.stringContaining('"sh test.sh": not run'),
    })
    expect((await verify()).code).toBe(0)
    const letGo = await stop()
    expect(letGo.code).toBe(0)
    expect(letGo.stdout).not.toContain('block')
  })

  test('a red result is reported as red', async () => {
    await edited()
    project.write({ 'sum.txt': '4\n' })
    expect((await verify()).code).toBe(1)
    expect((await stop()).stdout).toContain('block')
  })

  test('evidence of an earlier tree is stale', async () => {
    await edited()
    expect((await verify()).code).toBe(0)
    project.write({ 'notes.ts': 'y' })
    expect((await stop()).stdout).toContain('block')
  })

  test('an agent whose shell may not find gantry gets a command that works in any shell', async () => {
    await edited()
    const payload = { session_id: 's2', turn_id: 'p1', cwd: project.dir }
    const codex = (event: string, fields: object = {}) =>
      gantryHook(project, ['--agent', 'codex'], { ...payload, hook_event_name: event, ...fields })
    await codex('SessionStart', { source: 'startup' })
    const call = { tool_name: 'Bash', tool_use_id: 't1', tool_input: { command: 'touch new.txt' } }
    await codex('PreToolUse', call)
    project.write({ 'new.txt': '' })
    await codex('PostToolUse', { ...call, tool_response: '' })
    const refused = await codex('Stop', { stop_hook_active: false })
    const [, line = ''] = /^If the shell does not find it: (.+)$/m.exec(refused.stderr) ?? []
    const asked = await codex('PreToolUse', { ...call, tool_input: { command: line } })
    expect(asked).toMatchObject({ code: 0, stderr: '' })
    const env = { ...guardEnv(project), HOME: project.home, PATH: '/usr/bin:/bin' }
    const { status, stdout } = spawnSync('/bin/sh', ['-c', line], { cwd: project.dir, env, encoding: 'utf8' })
    expect(stdout).toContain('Every check is green')
    expect(status).toBe(0)
    expect(await codex('Stop', { stop_hook_active: true })).toMatchObject({ code: 0, stderr: '' })
  })

  test('evidence of another guard home does not count', async () => {
    await edited()
    const env = { ...guardEnv(project), GANTRY_GUARD_HOME: `${project.store}/other` }
    expect((await startGantry(project, ['guard', 'verify'], { env }).ended).code).toBe(0)
    expect((await stop()).stdout).toContain('block')
  })
})
