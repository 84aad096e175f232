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
    timeoutMs: 20_000,
    tree: async () => (await treeHash(project.path)).hash,
    ...change,
  })
}

test('each command is run in the root and is evidence for the tree', async () => {
  const heard: string[] = []
  const onOutput = (command: string): void => void heard.push(command)
  const [green, red] = await verify(['test -f a.txt', 'test -f b.txt; exit 3', 'cat a.txt'], { onOutput })
  expect(green).toMatchObject({ command: 'test -f a.txt', exitCode: 0 })
  expect(green?.notCounted).toBeUndefined()
  expect(green?.treeHash).toMatch(/^[0-9a-f]{40,}$/)
  expect(red).toMatchObject({ exitCode: 3 })
  expect(heard).toEqual(['cat a.txt'])
})

test('the counts of its output are kept, and a pipe fails with its first part', async () => {
  const [counted, piped] = await verify([
    "sed 's/a/2 passed, 2 skipped in 1.0s/' a.txt",
    'test -f b.txt | cat',
  ])
  expect(counted).toMatchObject({ executed: 4, skipped: 2 })
  expect(piped).toMatchObject({ exitCode: 1 })
})

test('what ends in another way than by itself proves nothing', async () => {
  const [missing, killed] = await verify(['no-such-program-here', 'kill -9 $$'])
  expect(missing?.notCounted).toContain('not found')
  expect(killed?.notCounted).toContain('SIGKILL')
  const [late] = await verify(['sleep 60 && test -f a.txt'], { timeoutMs: 200 })
  expect(late?.notCounted).toBe('it ran into the time limit')
})

test('a run that changes the tree, and a command that succeeds on anything, are not counted', async () => {
  const [writes, idle] = await verify(['cp a.txt b.txt', 'echo ok'])
  expect(writes?.notCounted).toContain('the run itself writes files')
  expect(idle?.notCounted).toContain('whatever the project is like')
})

test('a tree that cannot be had, and a root that is not there, are the fault of the machinery', async () => {
  const [untold] = await verify(['test -f a.txt'], { tree: () => Promise.reject(new Error('no git')) })
  expect(untold).toMatchObject({ infra: true, notCounted: expect.stringContaining('fingerprinted') })
  const [unstarted] = await verify(['test -f a.txt'], { root: '/does/not/exist' })
  expect(unstarted).toMatchObject({
    infra: true,
    notCounted: expect.stringContaining('could not be started'),
  })
})

test('after an abort the rest is left out', async () => {
  const abort = new AbortController()
  const onOutput = (): void => abort.abort()
  const runs = await verify(['cat a.txt; sleep 60', 'cat a.txt'], { signal: abort.signal, onOutput })
  expect(runs).toMatchObject([{ notCounted: 'it was interrupted' }])
})
