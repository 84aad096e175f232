import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFixture } from 'fs-fixture'
import { describe, expect, test } from 'vitest'
import { openProcess } from './open-process.ts'

const env = { PATH: process.env.PATH ?? '' }
const patience = { waitMs: 5_000, graceMs: 500 }

describe.concurrent('an interactive process', () => {
  test('answers its input, also to a late reader, and exits when its input ends', async () => {
    const chunks: string[] = []
    const child = openProcess({
      argv: ['cat'],
      cwd: '/',
      env,
      onStdout: (chunk) => chunks.push(Buffer.from(chunk).toString()),
    })
    child.stdin.write('one\n')
    while (chunks.length === 0) await sleep(5)
    child.stdin.end('two\n')
    const late: string[] = []
    for await (const chunk of child.stdout) late.push(String(chunk))
    expect(late.join('')).toBe('one\ntwo\n')
    expect(await child.end(patience)).toEqual([])
    expect(await child.exit).toEqual({ code: 0, signal: null })
  })

  test('is ended with its processes in other sessions, whether it exited by itself or not', async () => {
    await using fixture = await createFixture({})
    const daemon = (name: string) =>
      `setsid sh -c 'echo $$ > ${name}; exec sleep 300' & while [ ! -s ${name} ]; do sleep 0.01; done`
    for (const [name, rest, waitMs] of [
      ['gone', 'exit 0', 5_000],
      ['stays', 'trap "" TERM; while :; do sleep 0.1; done', 0],
    ] as const) {
      const child = openProcess({ argv: ['sh', '-c', `${daemon(name)}; ${rest}`], cwd: fixture.path, env })
      while (!existsSync(fixture.getPath(name)) || readFileSync(fixture.getPath(name), 'utf8') === '')
        await sleep(5)
      expect(await child.end({ waitMs, graceMs: 100 })).toEqual([])
      expect(isAlive(Number(readFileSync(fixture.getPath(name), 'utf8')))).toBe(false)
      expect(isAlive(child.pid ?? 0)).toBe(false)
    }
  })

  test('a missing program is reported by its exit', async () => {
    const child = openProcess({ argv: ['/no/such/program'], cwd: '/', env })
    expect((await child.exit).error?.message).toContain('ENOENT')
    expect(await child.end(patience)).toEqual([])
  })

  test('its environment is the given one and the mark', async () => {
    const child = openProcess({ argv: ['env'], cwd: '/', env: { ...env, GIVEN: 'x' } })
    let text = ''
    for await (const chunk of child.stdout) text += String(chunk)
    await child.end(patience)
    const names = text.split('\n').flatMap((line) => (line === '' ? [] : [line.split('=')[0]]))
    expect(names.toSorted()).toEqual(['GANTRY_EXEC_ID', 'GIVEN', 'PATH'])
  })
})

/** A zombie that no parent collects is not alive. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).charAt(0) !== 'Z'
  } catch {
    return false
  }
}
