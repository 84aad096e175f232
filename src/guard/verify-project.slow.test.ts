import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

test('what is green is evidence of the guard for the tree as it is', async () => {
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

test('what fails is recorded as red, and a run without a test as proving nothing', async () => {
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

test('a project that declares nothing is told so', async () => {
  const { fixture, verify } = await project({})
  await using _ = fixture
  expect(await verify()).toEqual({ verdict: 'nothing_declared', runs: [] })
})

test('settings that cannot be read are an error', async () => {
  const { fixture, verify } = await project({ 'harness.json': '{' })
  await using _ = fixture
  await expect(verify()).rejects.toThrow(/not valid JSON/)
})

test('beneath an agent a program of its own does not stand in for the real one', async () => {
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

test('a command that was declared when the session began is run although it was taken out since', async () => {
  const { fixture, root, guardHome, env, verify } = await project({
    'AGENTS.md': '- `node --test`\n',
    'a.test.mjs': failing,
  })
  await using _ = fixture
  await openGuard({ rules, guardHome, env }).handle({
    kind: 'session_start',
    source: 'startup',
    agent: 'claude-code',
    session: 's1',
    agentId: null,
    agentType: null,
    promptId: null,
    cwd: root,
    root,
  })
  writeFileSync(join(root, 'AGENTS.md'), 'Nothing to verify.\n')
  const { verdict, runs } = await verify()
  expect(runs.map(({ command }) => command)).toContain('node --test')
  expect(verdict).toBe('red')
})

test("a person's environment is theirs; beneath an agent only harmless variables are left", () => {
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
