import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { decideHook } from './decide-hook.ts'
import { openGuard } from './open-guard.ts'

test('a decision is explained by its id or as the latest', async () => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-library-')))
  onTestFinished(() => rmSync(top, { recursive: true, force: true }))
  const cwd = join(top, 'project')
  cpSync(join(import.meta.dirname, '../../examples/guard'), cwd, { recursive: true })
  const env = {
    PATH: process.env.PATH,
    HOME: top,
    GANTRY_GUARD_HOME: join(top, 'guard'),
    GANTRY_GUARD_RESIDENT: 'off',
  }
  await decideHook({
    agent: 'claude-code',
    env,
    payload: {
      session_id: '1',
      cwd,
      hook_event_name: 'PreToolUse',
      tool_name: 'Write',
      tool_input: { file_path: join(cwd, '.env'), content: 'A=1' },
      tool_use_id: '1',
    },
  })
  const guard = openGuard({ cwd, env })
  const latest = guard.explain('latest')
  expect(latest.decision).toMatchObject({ verdict: 'deny', reason: expect.stringContaining('.env') })
  expect(guard.explain(latest.decision.id)).toEqual(latest)
  expect(() => guard.explain('none')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
})
