import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { processesWith, runIn, sandboxLab } from '../../../test/support/sandbox-lab.ts'
import { treeHash } from '../../io/tree-hash.ts'
import { hostEngine } from './engine.ts'

const lab = () => {
  const made = sandboxLab(hostEngine, { image: 'none', env: { PATH: process.env.PATH ?? '' } })
  rmSync(join(made.repository, 'link-out'))
  return made
}

test('reports that it is not a sandbox and limits nothing', async () => {
  await using it = lab()
  const { report } = await it.open()
  expect(report).toMatchObject({ engine: 'host', sandboxed: false, engineVersion: null })
  for (const limit of Object.values(report.limits)) expect(limit.kind).toBe('not_applied')
  const text = report.shortfalls.join('\n')
  for (const words of [
    'without a sandbox',
    'network is not blocked',
    'in the repository itself',
    'no /workspace',
  ])
    expect(text).toContain(words)
})

test('overlay is a temporary copy; readonly is the repository itself', async () => {
  await using it = lab()
  const before = await treeHash(it.repository)
  const copy = await it.open({ workspace: 'overlay' })
  expect((await runIn(copy, 'echo x >> sentinel.txt; touch new')).end).toEqual({
    kind: 'exited',
    exitCode: 0,
  })
  expect((await runIn(copy, 'cat sentinel.txt; ls new')).output).toBe('untouched\nx\nnew\n')
  expect(await copy.close()).toEqual([])
  expect(await treeHash(it.repository)).toEqual(before)
  expect(readdirSync(join(it.directory, 'cache/gantry/sandboxes/host'))).toEqual([])
  const inPlace = await it.open()
  expect((await runIn(inPlace, 'pwd -P')).output).toBe(`${it.repository}\n`)
})

test('a virtual environment leads out, and a layer of setup is above the files of the repository', async () => {
  await using it = lab()
  symlinkSync('/usr/bin/env', join(it.repository, 'python'))
  const keep = join(it.directory, 'layer')
  const setup = await it.open({ workspace: 'overlay', keep })
  expect((await runIn(setup, 'test -L python && echo installed > made')).end).toEqual({
    kind: 'exited',
    exitCode: 0,
  })
  // What setup and the repository both have is removed from the layer.
  rmSync(join(keep, 'workspace/sentinel.txt'))
  const steps = await it.open({ workspace: 'readonly', layers: [keep] })
  expect((await runIn(steps, 'cat made sentinel.txt')).output).toBe('installed\nuntouched\n')
})

test('variables with a path inside get the real path, and variables of the caller are not passed on', async () => {
  await using it = lab()
  const sandbox = await it.open()
  mkdirSync(join(it.artifacts, 'tmp'))
  const env = { TMPDIR: '/artifacts/tmp', WORK: '/workspace', OTHER: '/artifactsx' }
  const { output } = await runIn(
    sandbox,
    'echo made > /dev/stderr; echo $TMPDIR $WORK $OTHER $SECRET_OF_THE_CALLER; echo x > "$TMPDIR/../file"',
    { env },
  )
  expect(output).toBe(`made\n${it.artifacts}/tmp ${it.repository} /artifactsx\n`)
  expect(readFileSync(join(it.artifacts, 'file'), 'utf8')).toBe('x\n')
})

test('a timeout, a cancel and a close end everything that was started', async () => {
  await using it = lab()
  const token = `51${Date.now()}`
  const command = `echo on; (setsid sleep ${token} &); sleep ${token}`
  const sandbox = await it.open()
  expect((await runIn(sandbox, command, { timeoutMs: 800 })).end).toEqual({ kind: 'timed_out' })
  expect(processesWith(`sleep\0${token}`)).toEqual([])
  const stop = new AbortController()
  expect((await runIn(sandbox, command, { signal: stop.signal, output: () => stop.abort() })).end).toEqual({
    kind: 'cancelled',
  })
  expect(processesWith(`sleep\0${token}`)).toEqual([])
  const running = runIn(sandbox, command)
  await sandbox.close()
  expect((await running).end).toEqual({ kind: 'cancelled' })
  expect(processesWith(`sleep\0${token}`)).toEqual([])
})

test('exit codes are returned', async () => {
  await using it = lab()
  const sandbox = await it.open()
  expect((await runIn(sandbox, 'exit 3')).end).toEqual({ kind: 'exited', exitCode: 3 })
  expect((await runIn(sandbox, 'kill -9 $$')).end).toEqual({ kind: 'exited', exitCode: 137 })
  expect(existsSync(it.repository)).toBe(true)
})
