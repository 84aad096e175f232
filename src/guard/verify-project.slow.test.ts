import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { latestHistory } from '../guard-engine/ledger/read-ledger.ts'
import { keepEnvironment } from '../guard-engine/ledger/recorded-environment.ts'
import { openGuard } from '../guard-engine/open-guard.ts'
import { rules } from '../rules/index.ts'
import { verificationEnv, verifyProject } from './verify-project.ts'

const passing = "import { test } from 'node:test'\ntest('works', () => {})\n"
const failing = "import { test } from 'node:test'\ntest('works', () => { throw new Error('no') })\n"
const settings = JSON.stringify({
  middleware: { pre_completion_checklist: { verification_commands: ['node --test'] } },
})

async function project(files: Record<string, string>) {
  const fixture = await createFixture({ 'app/keep.txt': '', ...prefixed(files) })
  const top = realpathSync(fixture.path)
  const [root, guardHome] = [join(top, 'app'), join(top, 'guard')]
  const path = `${dirname(process.execPath)}:/usr/bin:/bin`
  const env = { PATH: path, HOME: top }
  const verify = (beneathAgent = false, more: Record<string, string> = {}) =>
    verifyProject({
      root,
      guardHome,
      env: { ...env, ...more },
      beneathAgent,
      signal: new AbortController().signal,
      nowMs: () => Date.now(),
    })
  return { fixture, top, root, guardHome, env, verify }
}

function prefixed(files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`app/${name}`, text]))
}

test('a green run is evidence of the guard for the current tree', async () => {
  const { fixture, root, guardHome, verify } = await project({
    'harness.json': settings,
    'a.test.mjs': passing,
  })
  await using _ = fixture
  const { verdict, runs } = await verify()
  expect(verdict).toBe('green')
  expect(runs).toMatchObject([{ command: 'node --test', exitCode: 0, executed: 1 }])
  expect(latestHistory(guardHome, root).evidence.byCommand['node --test']).toMatchObject({
    by: 'guard',
    exitCode: 0,
  })
})

test('a failure is recorded as red, and a run without tests as proving nothing', async () => {
  const red = await project({ 'harness.json': settings, 'a.test.mjs': failing })
  await using _ = red.fixture
  expect((await red.verify()).verdict).toBe('red')
  expect(latestHistory(red.guardHome, red.root).evidence.byCommand['node --test']?.exitCode).toBe(1)
  const hollow = await project({ 'harness.json': settings })
  await using __ = hollow.fixture
  const { verdict, runs } = await hollow.verify()
  expect(verdict).toBe('red')
  expect(runs[0]?.notCounted ?? runs[0]?.executed).not.toBeUndefined()
})

test('a project without declared commands is reported as such', async () => {
  const { fixture, verify } = await project({})
  await using _ = fixture
  expect(await verify()).toEqual({
    verdict: 'nothing_declared',
    runs: [],
    missing: [],
    weakened: [],
    sealed: [],
  })
})

test('unreadable settings are an error', async () => {
  const { fixture, verify } = await project({ 'harness.json': '{' })
  await using _ = fixture
  await expect(verify()).rejects.toThrow(/not valid JSON/)
})

test('under an agent, a program of the agent does not replace the real one', async () => {
  const { fixture, top, root, guardHome, env, verify } = await project({
    'harness.json': settings,
    'a.test.mjs': failing,
  })
  await using _ = fixture
  keepEnvironment(guardHome, root, env, Date.now())
  const fake = join(top, 'fake')
  mkdirSync(fake)
  writeFileSync(join(fake, 'node'), '#!/bin/sh\necho "# tests 3"; echo "# pass 3"; echo "# fail 0"\n')
  chmodSync(join(fake, 'node'), 0o755)
  const lured = { PATH: `${fake}:${env.PATH}`, NODE_OPTIONS: '--require=/nowhere.js' }
  expect((await verify(true, lured)).verdict).toBe('red')
})

test('a command declared at session start runs even if it was removed since', async () => {
  const { fixture, root, guardHome, env, verify } = await project({
    'AGENTS.md': '- `node --test`\n',
    'a.test.mjs': failing,
  })
  await using _ = fixture
  await openGuard({ rules, guardHome, env }).handle({
    kind: 'session_start',
    source: 'startup',
    ...session(root),
  })
  writeFileSync(join(root, 'AGENTS.md'), 'Nothing to verify.\n')
  const { verdict, runs } = await verify()
  expect(runs.map(({ command }) => command)).toContain('node --test')
  expect(verdict).toBe('red')
})

const session = (root: string) =>
  ({
    agent: 'claude-code',
    session: 's1',
    agentId: null,
    agentType: null,
    promptId: null,
    cwd: root,
    root,
  }) as const

test('a tree that is reported as green is accepted at the next stop, even when the tests were weakened', async () => {
  const { fixture, root, guardHome, env, verify } = await project({
    'AGENTS.md': '- `node --test`\n',
    'a.test.mjs': `${passing}test('more', () => {})\n`,
  })
  await using _ = fixture
  const guard = openGuard({ rules, guardHome, env })
  const stop = { kind: 'stop', again: false, lastMessage: null, background: false, ...session(root) } as const
  await guard.handle({ kind: 'session_start', source: 'startup', ...session(root) })
  const call = {
    id: 'e1',
    tool: 'Edit',
    action: { kind: 'edit', path: join(root, 'a.test.mjs'), edits: [] },
    input: {},
  } as const
  await guard.handle({ kind: 'tool_before', call, ...session(root) })
  writeFileSync(join(root, 'a.test.mjs'), passing)
  const { verdict, weakened } = await verify()
  expect({ verdict, weakened }).toEqual({
    verdict: 'green',
    weakened: ['"a.test.mjs" has 1 test, before it had 2'],
  })
  expect(await guard.handle(stop)).toMatchObject({
    verdict: 'pass',
    notice: expect.stringContaining('weakened'),
  })
})

test('a command that was redefined to prove nothing is not green', async () => {
  const { fixture, root, guardHome, env, verify } = await project({
    'AGENTS.md': '- `npm test`\n',
    'package.json': JSON.stringify({ scripts: { test: 'node --test' } }),
  })
  await using _ = fixture
  await openGuard({ rules, guardHome, env }).handle({
    kind: 'session_start',
    source: 'startup',
    ...session(root),
  })
  writeFileSync(join(root, 'package.json'), JSON.stringify({ scripts: { test: 'true' } }))
  const { verdict, runs } = await verify()
  expect(verdict).toBe('red')
  expect(runs[0]?.notCounted).toBe('its definition was changed, and now it always succeeds')
})

test("a person's environment is unchanged, and under an agent only harmless variables are left", () => {
  const env = { PATH: '/agent', HOME: '/agent', LANG: 'C', LD_PRELOAD: 'x.so', NODE_OPTIONS: '-r x' }
  const recorded = { at: '', path: '/usr/bin', home: '/home/dev' }
  expect(verificationEnv(env, { agent: false, recorded })).toEqual(env)
  expect(verificationEnv(env, { agent: true, recorded })).toEqual({
    PATH: '/usr/bin',
    HOME: '/home/dev',
    LANG: 'C',
  })
  expect(verificationEnv(env, { agent: true, recorded: null })).toMatchObject({ PATH: '/agent' })
})

test.each([
  ['node_modules/vitest/package.json', 'node_modules/vitest/dist/runner.js'],
  [
    '.venv/lib/python3.12/site-packages/_pytest/__init__.py',
    '.venv/lib/python3.12/site-packages/_pytest/main.py',
  ],
])(
  'a runner that was edited in the session proves nothing, whoever runs it: beside %s',
  async (mark, edited) => {
    const { fixture, root, guardHome, env, verify } = await project({
      'harness.json': settings.replace('"middleware"', '"completion":{"verify":"self"},"middleware"'),
      '.gitignore': 'node_modules\n.venv\n',
      'a.test.mjs': passing,
      [mark]: '',
      [edited]: '',
    })
    await using _ = fixture
    const guard = openGuard({ rules, guardHome, env })
    // The clock of a file system is coarse.
    await wait(50)
    await guard.handle({ kind: 'session_start', source: 'startup', ...session(root) })
    expect((await verify(true)).verdict).toBe('green')
    const action = { kind: 'edit', path: join(root, 'b.mjs'), edits: [] } as const
    const call = { id: 'e1', tool: 'Edit', action, input: {} }
    await guard.handle({ kind: 'tool_before', call, ...session(root) })
    writeFileSync(join(root, 'b.mjs'), 'export const b = 1\n')
    writeFileSync(join(root, edited), 'process.exit(0)\n')
    const { verdict, runs } = await verify(true)
    const why = `${dirname(mark)}\` were changed in this session`
    expect({ verdict, why: runs[0]?.notCounted }).toEqual({
      verdict: 'red',
      why: expect.stringContaining(why),
    })
    const stop = {
      kind: 'stop',
      again: false,
      lastMessage: null,
      background: false,
      ...session(root),
    } as const
    const decision = await guard.handle(stop)
    expect(decision).toMatchObject({ verdict: 'refuse', reason: expect.stringContaining(why) })
  },
)
