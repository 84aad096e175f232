import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect } from 'vitest'
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
const repeat = 5
const planned = 2 * repeat
const leaseMs = 30_000

/** Two agents, one of which fails. Every start of one is in a ledger outside of the queue: what a provider would bill. */
function cluster(queue: string) {
  const agent = (script: string) => ({
    ...{ driver: 'command', command: ['sh', script], output: 'text', inherit_env: ['LEDGER'] },
  })
  const script = 'echo "start $$" >> "$LEDGER"; sleep 1;'
  const lab = smallProject({
    config: { agents: { good: agent('./good.sh'), bad: agent('./bad.sh') } },
    files: { 'good.sh': `${script} echo done > done.txt\n`, 'bad.sh': `${script} true\n` },
  })
  const ledger = join(lab.home, 'ledger')
  appendFileSync(ledger, '')
  const env = { LEDGER: ledger }
  const workers: { child: ReturnType<typeof startGantry>['child']; ended: Promise<unknown>; tmp: string }[] =
    []
  const pids = (): number[] =>
    [...readFileSync(ledger, 'utf8').matchAll(/start (\d+)/g)].map(([, pid]) => Number(pid))
  return {
    lab,
    starts: () => pids().length,
    submit: (more: Readonly<Record<string, string>> = {}) =>
      startGantry(
        lab,
        ['test', '--agent', 'good,bad', '--repeat', String(repeat), '--json', '--queue', queue],
        {
          env: { ...env, ...more },
        },
      ),
    work(more: Readonly<Record<string, string>> = {}, address = queue) {
      const cwd = join(lab.home, `machine-${workers.length}`)
      const tmp = more.TMPDIR ?? join(cwd, 'tmp')
      mkdirSync(join(cwd, 'tmp'), { recursive: true })
      const started = startGantry(lab, ['work', '-j', '1', '--queue', address], {
        cwd,
        env: { ...env, TMPDIR: tmp, ...more },
      })
      workers.push({ ...started, tmp })
      return started.child
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
      expect(pids().length).toBeGreaterThanOrEqual(planned)
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

const follow = async (lab: TestProject, queue: string, store: string): Promise<string> => {
  const sql = await openPostgres(queue)
  const [row] = await sql.query('SELECT id FROM runs')
  await sql.close()
  const env = { AGENT_ARTIFACT_DIR: join(lab.home, store) }
  return (await gantry(lab, ['runs', 'follow', String(row?.id), '--json', '--queue', queue], { env })).stdout
}

withServer(
  'kill -9 of the submitter: the workers go on, and two followers at a time get the whole run',
  async () => {
    const queue = await server.database()
    using world = cluster(queue)
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

withServer('kill -9 of a worker: a later one of its machine removes what it left', async () => {
  const queue = await server.database()
  using world = cluster(queue)
  const { ended } = world.submit()
  const tmp = join(world.lab.home, 'shared-tmp')
  mkdirSync(tmp)
  const killed = world.work({ TMPDIR: tmp })
  await expect.poll(world.starts).toBeGreaterThanOrEqual(1)
  killed.kill('SIGKILL')
  world.work({ TMPDIR: tmp })
  await world.check((await ended).stdout, 1)
  expect(leftIn(tmp)).toEqual([])
})

withServer('kill -9 of the server: all wait for it, and no attempt is repeated', async () => {
  const child = server.process()
  if (child === null) return
  const queue = await server.database()
  using world = cluster(queue)
  const { ended } = world.submit()
  for (const _ of [1, 2]) world.work()
  await expect.poll(world.starts).toBeGreaterThanOrEqual(3)
  child.kill('SIGKILL')
  await sleep(2_000)
  await server.restart()
  await world.check((await ended).stdout, 0)
})

withServer('SIGSTOP of a worker past its lease, then SIGCONT: its late result is not stored', async () => {
  const queue = await server.database()
  using world = cluster(queue)
  const { ended } = world.submit()
  const stopped = world.work()
  await expect.poll(world.starts).toBeGreaterThanOrEqual(1)
  stopped.kill('SIGSTOP')
  world.work()
  const { stdout } = await ended
  stopped.kill('SIGCONT')
  await sleep(3_000)
  await world.check(stdout, 1)
})

withServer(
  'a worker whose network is cut past its lease loses its trial, and works again afterwards',
  async () => {
    const queue = await server.database()
    using world = cluster(queue)
    await using line = await cuttable(queue)
    const { ended } = world.submit()
    world.work({}, line.address)
    await expect.poll(world.starts).toBeGreaterThanOrEqual(1)
    line.cut()
    world.work()
    await sleep(leaseMs * 1.3)
    line.heal()
    await world.check((await ended).stdout, 1)
  },
)

withServer('clocks that are 10 minutes off change nothing', async () => {
  const queue = await server.database()
  using world = cluster(queue)
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
  using world = cluster(queue)
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
  using world = cluster(queue)
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

/** A line to the server that can be cut, so that neither side gets anything more. */
async function cuttable(queue: string) {
  const url = new URL(queue)
  const sockets = new Set<Socket>()
  let isCut = false
  const relay = createServer((near) => {
    const far = connect(Number(url.port), url.hostname)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('data', (data) => (isCut ? undefined : to.write(data)))
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
    }
  })
  await new Promise<void>((ready) => relay.listen(0, '127.0.0.1', ready))
  const place = relay.address()
  const own = new URL(queue)
  own.port = String(typeof place === 'object' ? place?.port : 0)
  return {
    address: own.href,
    cut: () => {
      isCut = true
    },
    heal: () => {
      isCut = false
      for (const socket of sockets) socket.destroy()
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      relay.close()
    },
  }
}
