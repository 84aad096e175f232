import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { openPostgres } from '../../../src/io/sql.ts'
import { isAlive } from '../../support/is-alive.ts'
import { needs } from '../../support/needs.ts'
import { hasPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.ts'
import { gantry, type RunDocument, startGantry } from '../support/gantry.ts'
import { smallProject, type TestProject } from '../support/project.ts'

let server: PostgresServer

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres()
})
afterAll(() => server?.stop())

const withServer = needs('PostgreSQL', hasPostgres)
const withMounts = needs(
  'PostgreSQL and mounts of its own',
  hasPostgres &&
    process.getuid?.() === 0 &&
    spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', tmpdir()]).status === 0,
)
const withNetwork = needs(
  'PostgreSQL and networks of its own',
  hasPostgres && process.getuid?.() === 0 && spawnSync('unshare', ['-n', 'ip', 'link']).status === 0,
)
const repeat = 3
const planned = 2 * repeat
const leaseSeconds = 10

/** Asks its model once, works for a moment, and leaves the file that is wanted if it is the good one. */
const agentProgram = `import { appendFileSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
appendFileSync(process.env.LEDGER, 'start ' + process.pid + '\\n')
const headers = { 'x-api-key': process.env.ANTHROPIC_API_KEY, 'content-type': 'application/json', 'anthropic-version': '2023-06-01' }
const messages = [{ role: 'user', content: 'go' }]
const body = JSON.stringify({ model: 'claude-sonnet-5', max_tokens: 100, messages })
const answer = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST', headers, body })
if (!answer.ok) throw new Error(await answer.text())
await setTimeout(1000)
if (process.argv[2] === 'good') writeFileSync('done.txt', 'done')
`
const callUsd = 0.003

/** A provider that counts what it would bill. */
async function provider() {
  let calls = 0
  const http = createServer((request, response) => {
    request.resume().on('end', () => {
      calls += 1
      response.setHeader('content-type', 'application/json').end(
        JSON.stringify({
          ...{ id: `msg_${calls}`, type: 'message', role: 'assistant', model: 'claude-sonnet-5' },
          ...{ content: [{ type: 'text', text: 'ok' }], stop_reason: 'end_turn', stop_sequence: null },
          usage: { input_tokens: 1000, output_tokens: 100 },
        }),
      )
    })
  })
  await new Promise<void>((ready) => http.listen(0, '127.0.0.1', ready))
  onTestFinished(() => void http.close())
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, calls: () => calls }
}

/** Two agents, one of which fails. Every start of one is in a ledger outside of the queue. */
async function cluster(queue: string) {
  const agent = (kind: string) => ({
    ...{
      driver: 'command',
      command: [process.execPath, './agent.mjs', kind],
      output: 'text',
      meter: 'always',
    },
    inherit_env: ['LEDGER', 'ANTHROPIC_BASE_URL', 'ANTHROPIC_API_KEY'],
  })
  const model = await provider()
  const lab = smallProject({
    config: { agents: { good: agent('good'), bad: agent('bad') } },
    files: { 'agent.mjs': agentProgram },
  })
  const ledger = join(lab.home, 'ledger')
  appendFileSync(ledger, '')
  const env = {
    ...{ LEDGER: ledger, GANTRY_QUEUE_LEASE: String(leaseSeconds) },
    ...{ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'made-up' },
  }
  const workers: { child: ReturnType<typeof startGantry>['child']; ended: Promise<unknown>; tmp: string }[] =
    []
  const pids = (): number[] =>
    [...readFileSync(ledger, 'utf8').matchAll(/start (\d+)/g)].map(([, pid]) => Number(pid))
  const flags = ['--agent', 'good,bad', '--repeat', String(repeat), '--json', '--queue', queue]
  return {
    lab,
    env,
    starts: () => pids().length,
    submit: (more: Readonly<Record<string, string>> = {}) =>
      startGantry(lab, ['test', ...flags], { env: { ...env, ...more } }),
    work(more: Readonly<Record<string, string>> = {}, address = queue, started?: typeof startGantry) {
      const cwd = join(lab.home, `machine-${workers.length}`)
      const tmp = more.TMPDIR ?? join(cwd, 'tmp')
      mkdirSync(join(cwd, 'tmp'), { recursive: true })
      const worker = (started ?? startGantry)(lab, ['work', '-j', '1', '--queue', address], {
        cwd,
        env: { ...env, TMPDIR: tmp, ...more },
      })
      workers.push({ ...worker, tmp })
      return worker.child
    },
    /** Ends the workers and looks for what they left. `lost`: attempts that may have begun a second time. */
    async check(document: string, lost: number): Promise<RunDocument> {
      for (const { child } of workers) child.kill('SIGTERM')
      await Promise.all(workers.map(({ ended }) => ended))
      const run = JSON.parse(document) as RunDocument
      expect(run.summary).toMatchObject({
        ...{ verdict: 'fail', counts: { pass: repeat, fail: repeat, infra: 0 }, notRun: 0 },
        passRate: { value: 0.5, n: planned },
      })
      expect(new Set(run.trials.map(({ id }) => id)).size).toBe(planned)
      // The boundary's meter: each record was paid for once, and the provider billed no more than was begun.
      expect(run.trials.map(({ costUsd }) => costUsd?.toFixed(4))).toEqual(
        run.trials.map(() => callUsd.toFixed(4)),
      )
      expect(model.calls()).toBeGreaterThanOrEqual(planned)
      expect(model.calls()).toBeLessThanOrEqual(planned + lost)
      expect(run.summary.costUsd).toBeLessThanOrEqual(model.calls() * callUsd + 1e-9)
      expect(pids().length).toBeLessThanOrEqual(planned + lost)
      expect(pids().filter(isAlive)).toEqual([])
      for (const { child, tmp } of workers)
        if (child.signalCode !== 'SIGKILL') expect(leftIn(tmp)).toEqual([])
      return run
    },
    [Symbol.dispose]: () => {
      for (const { child } of workers) child.kill('SIGKILL')
      lab[Symbol.dispose]()
    },
  }
}

/** Node keeps compiled code in the same place. */
const leftIn = (tmp: string): string[] => readdirSync(tmp).filter((name) => name !== 'node-compile-cache')

async function runOf(queue: string): Promise<string> {
  const sql = await openPostgres(queue)
  const [row] = await sql.query('SELECT id FROM runs')
  await sql.close()
  return String(row?.id)
}

const follow = async (lab: TestProject, queue: string, store: string): Promise<string> => {
  const env = { AGENT_ARTIFACT_DIR: join(lab.home, store) }
  return (await gantry(lab, ['runs', 'follow', await runOf(queue), '--json', '--queue', queue], { env }))
    .stdout
}

withServer(
  'kill -9 of the submitter: the workers go on, and two followers at a time get the whole run',
  async () => {
    const queue = await server.database()
    using world = await cluster(queue)
    const { child, ended } = world.submit()
    for (const _ of [1, 2]) world.work()
    await expect.poll(world.starts).toBeGreaterThanOrEqual(3)
    child.kill('SIGKILL')
    await ended
    const [one, other] = await Promise.all(['a', 'b'].map((store) => follow(world.lab, queue, store)))
    await world.check(one ?? '', 0)
    expect((JSON.parse(other ?? '') as RunDocument).summary.counts).toMatchObject({
      pass: repeat,
      fail: repeat,
    })
  },
)

withServer('two machines that wait for one run: both have all of it, and nothing runs twice', async () => {
  const queue = await server.database()
  using world = await cluster(queue)
  const { ended } = world.submit()
  await expect.poll(() => existsSync(join(world.lab.store, 'runs')) && hasRun(queue)).toBe(true)
  const followed = follow(world.lab, queue, 'other')
  // In the store of the submitter there is one already.
  const argv = ['runs', 'follow', await runOf(queue), '--queue', queue]
  expect((await gantry(world.lab, argv)).stderr).toContain('is working on run')
  for (const _ of [1, 2]) world.work()
  const { summary, trials } = JSON.parse(await followed) as RunDocument
  const first = await world.check((await ended).stdout, 0)
  expect({ ...summary, durationMs: 0 }).toEqual({ ...first.summary, durationMs: 0 })
  expect(trials.map(({ id, verdict }) => [id, verdict])).toEqual(
    first.trials.map(({ id, verdict }) => [id, verdict]),
  )
})

const hasPath = (tmp: string, part: string): boolean =>
  readdirSync(tmp, { recursive: true }).some((path) => String(path).includes(part))
const moments: Readonly<Record<string, (world: { starts(): number }, tmp: string) => boolean>> = {
  'while it looks for agents': (_, tmp) => hasPath(tmp, '/probe'),
  // Or just after it, if no worker looked in time.
  'while it prepares the run': (world, tmp) => hasPath(tmp, 'gantry-probe-') || world.starts() >= 1,
  'when the first trial has begun': (world) => world.starts() >= 1,
  'in the middle of the run': (world) => world.starts() >= 3,
}
for (const [moment, isNow] of Object.entries(moments))
  withServer(`kill -9 of a worker ${moment}: a later one of its machine removes what it left`, async () => {
    const queue = await server.database()
    using world = await cluster(queue)
    const { ended } = world.submit()
    const tmp = join(world.lab.home, 'shared-tmp')
    // Of a worker that was killed as soon as it had begun.
    mkdirSync(join(tmp, 'gantry-work-000000'), { recursive: true })
    const killed = world.work({ TMPDIR: tmp })
    if (!moment.startsWith('while')) for (const _ of [2, 3]) world.work()
    await expect.poll(() => isNow(world, tmp), { interval: 5 }).toBe(true)
    killed.kill('SIGKILL')
    const left = leftIn(tmp)
    world.work({ TMPDIR: tmp })
    await expect.poll(() => leftIn(tmp).filter((name) => left.includes(name))).toEqual([])
    await world.check((await ended).stdout, 1)
    expect(leftIn(tmp)).toEqual([])
  })

withServer('kill -9 of the server: all wait for it, and no attempt is repeated', async () => {
  const child = server.process()
  if (child === null) return
  const queue = await server.database()
  using world = await cluster(queue)
  const { ended } = world.submit()
  for (const _ of [1, 2]) world.work()
  await expect.poll(world.starts).toBeGreaterThanOrEqual(3)
  child.kill('SIGKILL')
  await server.restart()
  await world.check((await ended).stdout, 0)
})

withServer('SIGSTOP of a worker past its lease, then SIGCONT: its late result is not stored', async () => {
  const queue = await server.database()
  using world = await cluster(queue)
  const { ended } = world.submit()
  const stopped = world.work()
  await expect.poll(world.starts).toBeGreaterThanOrEqual(1)
  stopped.kill('SIGSTOP')
  world.work()
  const { stdout } = await ended
  stopped.kill('SIGCONT')
  await world.check(stdout, 1)
})

withNetwork(
  'a worker whose network is cut past its lease loses its trial, and works again afterwards',
  async () => {
    const queue = await server.database()
    using world = await cluster(queue)
    using network = await ownNetwork([new URL(queue).port, new URL(world.env.ANTHROPIC_BASE_URL).port])
    const { ended } = world.submit()
    world.work({}, queue, network.start)
    await expect.poll(world.starts).toBeGreaterThanOrEqual(1)
    network.set('down')
    world.work()
    const { stdout } = await ended
    network.set('up')
    await world.check(stdout, 1)
  },
)

withServer('clocks that are 10 minutes off change nothing', async () => {
  const queue = await server.database()
  using world = await cluster(queue)
  const off = (minutes: number): { NODE_OPTIONS: string } => {
    const file = join(world.lab.home, `clock${minutes}.mjs`)
    writeFileSync(
      file,
      `const shift = ${minutes * 60_000}
      const RealDate = Date
      globalThis.Date = class extends RealDate {
        constructor(...args) { super(...(args.length === 0 ? [RealDate.now() + shift] : args)) }
        static now() { return RealDate.now() + shift }
      }`,
    )
    return { NODE_OPTIONS: `--import=${file}` }
  }
  const { ended } = world.submit(off(10))
  world.work(off(-10))
  world.work()
  await world.check((await ended).stdout, 0)
})

withServer('1% of damaged blobs: every trial has its record, and says that its files are lost', async () => {
  const queue = await server.database()
  using world = await cluster(queue)
  const { child, ended } = world.submit()
  await expect.poll(() => existsSync(join(world.lab.store, 'runs'))).toBe(true)
  for (const _ of [1, 2]) world.work()
  await expect.poll(world.starts).toBe(planned)
  child.kill('SIGKILL')
  await ended
  const sql = await openPostgres(queue)
  const isOver = async (): Promise<unknown> =>
    (await sql.query('SELECT open_trials FROM runs'))[0]?.open_trials
  await expect.poll(isOver).toBe(0)
  await sql.query(
    `UPDATE blobs SET bytes = 'x' WHERE hash = (SELECT min(archive) FROM trials WHERE archive IS NOT NULL)`,
  )
  await sql.close()
  const run = await world.check(await follow(world.lab, queue, 'late'), 0)
  const lost = run.trials.filter(({ warnings }) => warnings.some((text) => text.includes('is damaged')))
  expect(lost.length).toBeGreaterThanOrEqual(1)
  expect(lost.length).toBeLessThan(planned)
})

withMounts('a full disk of a worker: its trials go to another one', async () => {
  const queue = await server.database()
  using world = await cluster(queue)
  const { child, ended } = world.submit()
  // A worker in mounts of its own, with a disk too small for the project.
  const small = join(world.lab.home, 'small')
  mkdirSync(small)
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=60k', 'none', small])
  try {
    const full = world.work({ TMPDIR: small })
    await expect
      .poll(async () => {
        const { stdout } = await gantry(world.lab, ['queue', 'status', '--queue', queue])
        return stdout.includes('refused') || full.exitCode !== null
      })
      .toBe(true)
    world.work()
    // One of each agent.
    await world.check((await ended).stdout, 2)
  } finally {
    child.kill('SIGKILL')
    spawnSync('umount', [small])
  }
})

/**
 * A network namespace with nothing but a loopback. Its ports lead to the same ports outside, through sockets in the file system, which
 * no namespace separates. A loopback that is down neither answers nor refuses.
 */
async function ownNetwork(ports: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'gantry-network-'))
  const relay = `const { createServer, connect } = require('node:net')
    const [side, directory, ...ports] = process.argv.slice(1)
    for (const port of ports) {
      const path = directory + '/' + port
      const [from, to] = side === 'inside' ? [Number(port), path] : [path, Number(port)]
      createServer((near) => {
        const far = typeof to === 'number' ? connect(to, '127.0.0.1') : connect(to)
        for (const [a, b] of [[near, far], [far, near]]) a.pipe(b).on('error', () => a.destroy()), a.on('error', () => b.destroy())
      }).listen(...(typeof from === 'number' ? [from, '127.0.0.1'] : [from]))
    }
    if (side === 'inside') require('node:child_process').execFileSync('ip', ['link', 'set', 'lo', 'up'])
    console.log('ready')`
  const start = (side: string, ...wrap: string[]) => {
    const [program = '', ...argv] = [...wrap, process.execPath, '-e', relay, side, directory, ...ports]
    return spawn(program, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  }
  const relays = [start('outside'), start('inside', 'unshare', '-n')]
  for (const { stdout } of relays) await new Promise((ready) => stdout.once('data', ready))
  const inside = ['-t', String(relays[1]?.pid), '-n']
  return {
    start: (...[lab, argv, options]: Parameters<typeof startGantry>) =>
      startGantry(lab, argv, options, ['nsenter', ...inside]),
    set: (state: 'up' | 'down') => spawnSync('nsenter', [...inside, 'ip', 'link', 'set', 'lo', state]),
    [Symbol.dispose]: () => {
      for (const child of relays) child.kill('SIGKILL')
      rmSync(directory, { recursive: true })
    },
  }
}

async function hasRun(queue: string): Promise<boolean> {
  const sql = await openPostgres(queue)
  try {
    return (await sql.query('SELECT 1 AS one FROM runs')).length > 0
  } catch {
    return false
  } finally {
    await sql.close()
  }
}
