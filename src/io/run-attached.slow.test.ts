import { readFileSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { expect, test, vi } from 'vitest'
import { Interruption } from './interruption.ts'
import { runAttached } from './run-attached.ts'

const script =
  "trap 'exit 3' INT; trap 'exit 4' TERM; echo $$ > pid; while :; do echo >> turns; sleep 0.02; done"

/** Starts a program that ends with 3 by SIGINT and with 4 by SIGTERM. */
async function started(graceMs: number) {
  const fixture = await createFixture({ turns: '' })
  const stopping = new AbortController()
  const ended = runAttached({
    argv: ['/bin/sh', '-c', script],
    cwd: fixture.path,
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin' },
    output: 'stdout',
    signal: stopping.signal,
    graceMs,
  })
  const turns = (): number => readFileSync(fixture.getPath('turns')).length
  const takesTurns = async (count: number): Promise<void> => {
    const from = turns()
    await vi.waitFor(() => expect(turns()).toBeGreaterThanOrEqual(from + count), { timeout: 600_000 })
  }
  await takesTurns(1)
  return { fixture, ended, takesTurns, stop: (reason?: unknown) => stopping.abort(reason) }
}

const never = 600_000

test('a program that the terminal sent Ctrl-C too ends by itself', async () => {
  const { fixture, ended, takesTurns, stop } = await started(never)
  await using _ = fixture
  stop(new Interruption('SIGINT'))
  await takesTurns(3)
  process.kill(Number(readFileSync(fixture.getPath('pid'), 'utf8')), 'SIGINT')
  expect(await ended).toEqual({ exitCode: 3, signal: null })
})

test('a program that a Ctrl-C did not reach gets SIGTERM later', async () => {
  const { fixture, ended, stop } = await started(1_000)
  await using _ = fixture
  stop(new Interruption('SIGINT'))
  expect(await ended).toEqual({ exitCode: 4, signal: null })
})

test.each([undefined, new Interruption('SIGTERM')])(
  'a program gets SIGTERM at once for %s',
  async (reason) => {
    const { fixture, ended, stop } = await started(never)
    await using _ = fixture
    stop(reason)
    expect(await ended).toEqual({ exitCode: 4, signal: null })
  },
)
