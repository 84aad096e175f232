import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { builtinToolCall } from '../../agents/builtin/hooks.ts'
import { guardHooks } from '../../guard-engine/guard-hooks.ts'
import { openGuard } from '../../guard-engine/open-guard.ts'
import { rules } from '../../rules/index.ts'
import { refusedSince } from './refused-since.ts'

test('calls that the guard refused are found in its ledger, from a time on', async () => {
  await using fixture = await createFixture({ 'app/a.txt': 'a\n' })
  const [root, guardHome] = [join(realpathSync(fixture.path), 'app'), join(fixture.path, 'guard')]
  const env = { HOME: fixture.path, GANTRY_GUARD_RESIDENT: 'off' }
  const guard = openGuard({ rules, guardHome, env, own: [], hookBin: null })
  const hooks = guardHooks({ guard, agent: 'builtin', session: 's1', root, toToolCall: builtinToolCall })
  for (const path of ['.env', 'b.txt'])
    await hooks.beforeTool?.({ id: path, tool: 'write', input: { path, content: 'x' } })
  expect(refusedSince(guardHome, root, '')).toEqual([
    expect.stringMatching(/^refused: write \.env: .*is protected and must not be modified/),
  ])
  expect(refusedSince(guardHome, root, new Date(Date.now() + 60_000).toISOString())).toEqual([])
})
