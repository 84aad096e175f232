import { spawnSync } from 'node:child_process'
import { readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { findProgram } from '../../../src/io/find-program.ts'
import { needs } from '../../support/needs.ts'
import { hookProgram } from '../../support/program.ts'
import { gantry } from '../support/gantry.ts'
import type { TestProject } from '../support/project.ts'
import { commitAll, verifiedProject, verifyJson } from './lab.ts'

const bwrap = needs('bubblewrap', findProgram('bwrap', process.env.PATH ?? '') !== null)

const passing = 'import { test } from "node:test"; test("works", () => {})\n'
const failing = 'import { test } from "node:test"; test("works", () => { throw new Error("no") })\n'

/** A guarded project whose AGENTS.md declares `node --test`. */
function guardedProject(
  steps: readonly string[],
  more: Parameters<typeof verifiedProject>[0] = { steps: [] },
) {
  return verifiedProject({
    ...more,
    steps,
    files: {
      'AGENTS.md': '# Project\n\n## Verification\n\n- `node --test`\n',
      'a.test.mjs': passing,
      ...more.files,
    },
  })
}

interface Answer {
  readonly blocked: boolean
  readonly reason: string
}

function hook(project: TestProject, event: string, more: object = {}): Answer {
  const { stderr, status } = spawnSync(process.execPath, [hookProgram, '--agent', 'claude-code', event], {
    input: JSON.stringify({
      session_id: 's1',
      transcript_path: join(project.home, 't.jsonl'),
      cwd: project.dir,
      permission_mode: 'default',
      hook_event_name: event,
      ...more,
    }),
    env: {
      PATH: process.env.PATH ?? '',
      HOME: project.home,
      GANTRY_GUARD_HOME: join(project.home, 'guard'),
      GANTRY_GUARD_RESIDENT: 'off',
      CLAUDE_PROJECT_DIR: project.dir,
    },
    encoding: 'utf8',
  })
  if (status !== 0 && status !== 2) throw new Error(`${event}: exit ${status}: ${stderr}`)
  return { blocked: status === 2, reason: stderr }
}

/** An agent begins, edits the test, and wants to stop. */
function agentEdits(project: TestProject, content: string): void {
  hook(project, 'SessionStart', { source: 'startup' })
  const file_path = project.path('a.test.mjs')
  const call = { tool_name: 'Write', tool_input: { file_path, content }, tool_use_id: 't1' }
  hook(project, 'PreToolUse', call)
  writeFileSync(file_path, content)
  hook(project, 'PostToolUse', { ...call, tool_response: { filePath: file_path, success: true } })
}

const stop = (project: TestProject) => hook(project, 'Stop', { stop_hook_active: false })

const options = (project: TestProject, more: Record<string, string> = {}) => ({
  env: { GANTRY_GUARD_HOME: join(project.home, 'guard'), ...more },
})

describe('the completion gate', () => {
  bwrap('refuses before, and accepts after a PASS for the same tree, until the tree changes', async () => {
    using project = guardedProject(['node --test'])
    agentEdits(project, `${passing}void 0\n`)
    expect(stop(project).blocked).toBe(true)
    expect((await verifyJson(project, [], options(project))).status).toBe('PASS')
    expect(stop(project).blocked).toBe(false)
    agentEdits(project, `${passing}// even more\n`)
    expect(stop(project).blocked).toBe(true)
  })

  bwrap('refuses after a FAIL, and says what failed', async () => {
    using project = guardedProject(['node --test'])
    agentEdits(project, failing)
    expect((await verifyJson(project, [], options(project))).status).toBe('FAIL')
    const { blocked, reason } = stop(project)
    expect(blocked).toBe(true)
    expect(reason).toContain('failed with exit 1')
  })

  bwrap('takes a pipeline for nothing beyond its steps', async () => {
    using project = guardedProject(['true && node --test', 'node --test a.test.mjs'])
    agentEdits(project, `${passing}void 0\n`)
    expect((await verifyJson(project, [], options(project))).status).toBe('PASS')
    expect(stop(project).blocked).toBe(true)
  })

  bwrap('is informed, and the person too where a session was guarded', async () => {
    using project = guardedProject(['node --test'])
    const verify = () => gantry(project, ['verify', '--sandbox', 'bubblewrap'], options(project))
    expect((await verify()).stdout).not.toContain('guard')
    hook(project, 'SessionStart', { source: 'startup' })
    expect((await verify()).stdout).toContain('Recorded as evidence for the guard: node --test')
  })
})

describe('a program that make built before the change', () => {
  const main = '#include <stdio.h>\nint main(void) { puts("1 passed"); return 0; }\n'

  /** The session changes a source after the program was built on the disk. */
  function staleProject(): TestProject {
    const project = verifiedProject({
      steps: ['make check'],
      verification: { workspace: 'overlay' },
      files: {
        '.gitignore': 'app\n*.o\n',
        'AGENTS.md': '# Project\n\n## Verification\n\n- `make check`\n',
        Makefile: 'check: app\n\t./app\n\napp: app.o\n\tcc -o $@ app.o\n\napp.o: app.c\n\tcc -c app.c\n',
        'app.c': main,
      },
    })
    spawnSync('make', ['app'], { cwd: project.dir, stdio: 'ignore' })
    hook(project, 'SessionStart', { source: 'startup' })
    hook(project, 'UserPromptSubmit', { prompt: 'Say it in another way.' })
    const file_path = project.path('app.c')
    const call = { tool_name: 'Write', tool_input: { file_path, content: '' }, tool_use_id: 't1' }
    hook(project, 'PreToolUse', call)
    writeFileSync(file_path, main.replace('passed', 'passed!'))
    hook(project, 'PostToolUse', { ...call, tool_response: { filePath: file_path, success: true } })
    return project
  }
  const verify = (project: TestProject) =>
    gantry(project, ['verify', '--sandbox', 'bubblewrap'], options(project))

  bwrap('is built anew in the sandbox, so the one on the disk does not count', async () => {
    using project = staleProject()
    expect(stop(project).blocked).toBe(true)
    expect((await verify(project)).stdout).toContain('Recorded as evidence for the guard: make check')
    expect(stop(project)).toMatchObject({ blocked: false })
  })

  bwrap.each(['app', 'app.o'])('counts when %s was dated forward, and verify says so', async (path) => {
    using project = staleProject()
    const later = new Date(Date.now() + 60_000)
    utimesSync(project.path(path), later, later)
    expect((await verify(project)).stdout).toMatch(
      /Not recorded as evidence for the guard: make check: `app(?:\.o)?` was not built from its sources/,
    )
    expect(stop(project)).toMatchObject({ blocked: true, reason: expect.stringContaining('was not built') })
  })
})

describe('beneath an agent', () => {
  const beneath = { CLAUDECODE: '1' }

  bwrap('a committed agent.yaml counts', async () => {
    using project = guardedProject(['node --test'])
    agentEdits(project, `${passing}void 0\n`)
    await verifyJson(project, [], options(project, beneath))
    expect(stop(project).blocked).toBe(false)
  })

  bwrap('a rewritten one does not, until it is committed', async () => {
    using project = guardedProject(['node --test'])
    agentEdits(project, `${failing}void 0\n`)
    const agentFile = readFileSync(project.path('agent.yaml'), 'utf8')
    project.write({
      'agent.yaml': agentFile.replace(
        'steps:',
        "workspace: overlay\n  steps:\n    - name: cheat\n      command: rm a.test.mjs; echo \"import { test } from 'node:test'; test('x', () => {})\" > b.test.mjs",
      ),
    })
    const { stdout } = await gantry(project, ['verify', '--sandbox', 'bubblewrap'], options(project, beneath))
    expect(stdout).toContain('PASS')
    expect(stdout).toContain('agent.yaml differs from the committed version')
    expect(stop(project).blocked).toBe(true)
    commitAll(project.dir)
  })

  bwrap('a run without a sandbox does not', async () => {
    using project = guardedProject(['node --test'])
    agentEdits(project, `${passing}void 0\n`)
    expect((await verifyJson(project, ['--sandbox', 'host'], options(project, beneath))).status).toBe('PASS')
    const { blocked, reason } = stop(project)
    expect(blocked).toBe(true)
    expect(reason).toContain('without a sandbox below an agent')
  })
})
