import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { needs } from '../../test/support/needs.ts'
import { exec, shell } from './exec.ts'

const dir = mkdtempSync(join(tmpdir(), 'gantry-spawn-'))
const env = { PATH: process.env.PATH ?? '' }
const linux = needs('spawn server: it is Linux only', process.platform === 'linux')

beforeAll(async () => {
  for (let count = 0; count < 25; count += 1) await exec({ argv: ['true'], cwd: dir, env })
})

afterAll(() => rmSync(dir, { recursive: true, force: true }))

linux('after the first programs another process does the starting', async () => {
  const { stdout } = await exec({ argv: shell('echo $PPID'), cwd: dir, env })
  const parent = Number(stdout.text)
  expect(parent).not.toBe(process.pid)
  expect(readFileSync(`/proc/${parent}/cmdline`, 'utf8')).toContain('spawn-server')
})

test('input, output, environment, directory, exit code and signal are the same from there', async () => {
  const ended = await exec({
    argv: shell('cat; cat /dev/stdin; echo "$A in $(pwd)"; echo oops > /dev/stderr; exit 7'),
    cwd: dir,
    env: { ...env, A: 'ä' },
    stdin: 'in\n',
  })
  expect(ended).toMatchObject({ ending: 'exited', exitCode: 7 })
  expect(ended.stdout.text).toBe(`in\nin\nä in ${dir}\n`)
  expect(ended.stderr.text).toBe('oops\n')
  expect(await exec({ argv: shell('kill -SEGV $$'), cwd: dir, env })).toMatchObject({
    ending: 'signalled',
    signal: 'SIGSEGV',
  })
})

test('a second program never sees the input of the first', async () => {
  const read = async (stdin: string): Promise<string> =>
    (await exec({ argv: ['cat'], cwd: dir, env, stdin })).stdout.text
  expect(await read('a long input that is longer')).toBe('a long input that is longer')
  expect(await read('short')).toBe('short')
  const many = Array.from({ length: 12 }, (_, index) => `${index}`.repeat(index * 1000 + 1))
  expect(await Promise.all(many.map(read))).toEqual(many)
})

test('a program that cannot be started is reported as before', async () => {
  const missing = await exec({ argv: ['no-such-program'], cwd: dir, env })
  expect(missing).toMatchObject({ ending: 'not_started' })
  expect(missing.error).toContain('not on the PATH')
  expect(await exec({ argv: ['true'], cwd: join(dir, 'nowhere'), env })).toMatchObject({
    ending: 'not_started',
  })
})

test('a stop that comes while the program is being started is not lost', async () => {
  for (let round = 0; round < 20; round += 1) {
    const cancel = new AbortController()
    const running = exec({ argv: ['sleep', '1000'], cwd: dir, env, signal: cancel.signal })
    if (round % 2 === 0) await Promise.resolve()
    else await sleep(round / 10)
    cancel.abort()
    expect((await running).ending).toBe('aborted')
  }
})

const ways = [
  ['exec', "await exec({ argv: shell(daemon + '; ' + main), ...place, endsWithUs: true })"],
  [
    'openProcess',
    "prepareSpawning(); await exec({ argv: ['true'], ...place, endsWithUs: true }); await openProcess({ argv: shell(daemon + '; ' + main), ...place }).exit",
  ],
]

linux.each(ways)(
  'when this process is killed, what %s started ends with it, daemons too',
  async (way, start) => {
    const script = join(dir, `${way}.ts`)
    const mark = join(dir, `${way}-pid`)
    writeFileSync(
      script,
      `import { exec, shell } from ${JSON.stringify(join(import.meta.dirname, 'exec.ts'))}
import { openProcess } from ${JSON.stringify(join(import.meta.dirname, 'open-process.ts'))}
import { prepareSpawning } from ${JSON.stringify(join(import.meta.dirname, 'spawn-client.ts'))}
const place = { cwd: ${JSON.stringify(dir)}, env: { PATH: process.env.PATH ?? '' } }
const daemon = '(setsid sh -c "echo \\$\\$ > ${mark}.daemon; exec sleep 1000" &)'
const main = 'until test -s ${mark}.daemon; do sleep 0.01; done; echo $$ > ${mark}.new; mv ${mark}.new ${mark}; exec sleep 1000'
${start}
`,
    )
    const orderer = spawn(process.execPath, [script], { stdio: 'inherit' })
    await until(() => existsSync(mark))
    const pids = [mark, `${mark}.daemon`].map((file) => Number(readFileSync(file, 'utf8')))
    expect(pids.every(isAlive)).toBe(true)
    orderer.kill('SIGKILL')
    await until(() => !pids.some(isAlive))
  },
)

linux('when the starting process is killed, programs are started all the same', async () => {
  const { stdout } = await exec({ argv: shell('echo $PPID'), cwd: dir, env })
  process.kill(Number(stdout.text), 'SIGKILL')
  const after = await Promise.all(
    Array.from({ length: 5 }, (_, index) => exec({ argv: shell(`echo ${index}`), cwd: dir, env })),
  )
  expect(after.map(({ stdout: { text } }) => text.trim())).toEqual(['0', '1', '2', '3', '4'])
})

function isAlive(pid: number): boolean {
  return existsSync(`/proc/${pid}`)
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !holds(); tries += 1) await sleep(20)
  expect(holds()).toBe(true)
}
