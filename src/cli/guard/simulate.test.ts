import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runCommand } from '../../../test/support/run-command.ts'
import { simulateCommand } from './simulate.ts'

let home: string
let root: string
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-simulate-')))
  root = join(home, 'project')
  mkdirSync(root)
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const payload = (file: string): string =>
  JSON.stringify({
    session_id: 's1',
    transcript_path: '/nowhere',
    cwd: root,
    hook_event_name: 'PreToolUse',
    permission_mode: 'default',
    tool_name: 'Write',
    tool_input: { file_path: join(root, file), content: '{}' },
    tool_use_id: 'toolu_1',
  })

const simulate = (file: string, ...flags: readonly string[]) => {
  writeFileSync(join(home, 'event.json'), payload(file))
  const env = { HOME: home, GANTRY_GUARD_HOME: join(home, 'guard'), CLAUDE_PROJECT_DIR: root }
  return runCommand(simulateCommand, [join(home, 'event.json'), ...flags], { env, cwd: root })
}

test('a payload gets exactly the bytes and exit code of the agent, and every rule is named', async () => {
  const { stdout } = await simulate('harness.json', '--json')
  const found = JSON.parse(stdout)
  expect(found.event).toMatchObject({ kind: 'tool_before', agent: 'claude-code', session: 's1' })
  expect(found.decision).toMatchObject({ verdict: 'deny' })
  expect(found.decision.findings[0].rule).toBe('protect-itself')
  expect(found.reply.exitCode === 2 || found.reply.stdout.includes('"deny"')).toBe(true)
})

test('nothing is written: no ledger, no views', async () => {
  const { stdout } = await simulate('src/a.ts')
  expect(stdout).toContain('tool_before of claude-code: pass')
  expect(stdout).toContain('protect-itself: no finding')
  expect(readdirSync(root)).toEqual([])
  expect(existsSync(join(home, 'guard', 'projects'))).toBe(false)
})

test('an invalid payload is reported as an error', async () => {
  writeFileSync(join(home, 'bad.json'), '{')
  const env = { HOME: home }
  await expect(runCommand(simulateCommand, [join(home, 'bad.json')], { env, cwd: root })).rejects.toThrow(
    'JSON',
  )
  await expect(runCommand(simulateCommand, [join(home, 'none')], { env, cwd: root })).rejects.toThrow('none')
})
