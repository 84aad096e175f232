import { chmodSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { declaredAs } from '../../test/support/guard-story.ts'
import { treeHash } from '../io/tree-hash.ts'
import { runVerification, type VerificationRequest } from './run-verification.ts'

async function verify(commands: readonly string[], change: Partial<VerificationRequest> = {}) {
  await using project = await createFixture({ 'a.txt': 'a' })
  return await runVerification({
    root: project.path,
    commands: commands.map((command) => declaredAs(command)),
    env: { PATH: process.env.PATH },
    timeoutMs: 600_000,
    tree: async () => (await treeHash(project.path)).hash,
    ...change,
  })
}

test('each command runs in the root and is evidence for the tree', async () => {
  const outputs: string[] = []
  const onOutput = (command: string): void => void outputs.push(command)
  const [green, red] = await verify(['test -f a.txt', 'test -f b.txt; exit 3', 'cat a.txt'], { onOutput })
  expect(green).toMatchObject({ command: 'test -f a.txt', exitCode: 0 })
  expect(green?.notCounted).toBeUndefined()
  expect(green?.treeHash).toMatch(/^[0-9a-f]{40,}$/)
  expect(red).toMatchObject({ exitCode: 3 })
  expect(outputs).toEqual(['cat a.txt'])
})

test('the test counts of the output are stored, and a pipe fails with its first part', async () => {
  const [counted, piped] = await verify([
    "sed 's/a/2 passed, 2 skipped in 1.0s/' a.txt",
    'test -f b.txt | cat',
  ])
  expect(counted).toMatchObject({ executed: 4, skipped: 2 })
  expect(piped).toMatchObject({ exitCode: 1 })
})

test('a run that is stopped or killed proves nothing', async () => {
  const [missing, killed] = await verify(['no-such-program-here', 'kill -9 $$'])
  expect(missing?.notCounted).toContain('not found')
  expect(killed?.notCounted).toContain('SIGKILL')
  const [late] = await verify(['sleep 60 && test -f a.txt'], { timeoutMs: 200 })
  expect(late?.notCounted).toBe('it ran into the time limit')
})

test('a run that changes the tree, and a command that always succeeds, do not count', async () => {
  const [writes, idle] = await verify(['cp a.txt b.txt', 'echo ok'])
  expect(writes?.notCounted).toContain('the run writes files')
  expect(idle?.notCounted).toContain('it always succeeds')
})

test('a missing fingerprint or a missing root is an infrastructure failure', async () => {
  const [untold] = await verify(['test -f a.txt'], { tree: () => Promise.reject(new Error('no git')) })
  expect(untold).toMatchObject({ infra: true, notCounted: expect.stringContaining('fingerprinted') })
  const [unstarted] = await verify(['test -f a.txt'], { root: '/does/not/exist' })
  expect(unstarted).toMatchObject({
    infra: true,
    notCounted: expect.stringContaining('could not be started'),
  })
})

test('after an abort the remaining commands are skipped', async () => {
  const abort = new AbortController()
  const onOutput = (): void => abort.abort()
  const runs = await verify(['cat a.txt; sleep 60', 'cat a.txt'], { signal: abort.signal, onOutput })
  expect(runs).toMatchObject([{ notCounted: 'it was interrupted' }])
})

test('variables that change what a shell or a runner does are left out', async () => {
  const env = {
    PATH: process.env.PATH,
    BASH_ENV: 'a.txt',
    'BASH_FUNC_grep%%': '() { true; }',
    MAKEFLAGS: '-i',
    NODE_OPTIONS: '--require ./quiet.cjs',
    DATABASE_URL: 'kept',
  }
  const [clean, kept] = await verify(
    ['! env | grep -E "^(BASH_ENV|BASH_FUNC|MAKEFLAGS|NODE_OPTIONS)"', 'env | grep -q DATABASE_URL=kept'],
    { env },
  )
  expect([clean?.exitCode, kept?.exitCode]).toEqual([0, 0])
})

test('a run without a summary proves nothing if an earlier one showed tests', async () => {
  const most = { 'test -f a.txt': 3 }
  const [silent] = await verify(['test -f a.txt'], { most })
  expect(silent?.notCounted).toBe('its output shows no tests, although it ran 3 tests before')
})

test('with a sandbox, the commands run through it', async () => {
  await using place = await createFixture({ 'sandbox.sh': '#!/bin/sh\necho "inside: $1"; exit 7\n' })
  const sandbox = place.getPath('sandbox.sh')
  chmodSync(sandbox, 0o755)
  const [run] = await verify(['test -f a.txt'], { sandbox })
  expect(run?.exitCode).toBe(7)
})
