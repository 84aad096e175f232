import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openPostgres } from '../src/io/sql.ts'
import type { NewQueuedTrial } from '../src/store/trial-queue/contract.ts'
import { openTrialQueue } from '../src/store/trial-queue/open-trial-queue.ts'
import { type PostgresServer, startPostgres } from '../test/support/postgres-server.ts'
import { compare, type Figure, inMemory, inTemporary, median, timed } from './figure.ts'

const gantry = join(import.meta.dirname, '../dist/cli/bin.js')

interface Site {
  readonly base: string
  readonly server: PostgresServer
}

/** 2,000 trials that do nothing on two workers, against the same on one process. */
export function queueTrials(): Promise<Figure> {
  return withServer(async (site) => {
    const flags = ['--agent', 'nothing', '--repeat', '2000']
    return compare({
      name: '2,000 trials of /bin/true, two workers x 2 on PostgreSQL',
      atMost: 2,
      baseline: 'one process with -j 4',
      rounds: 1,
      ours: () => onQueue(site, flags, 2),
      theirs: () => ended(run(site, ['test', ...flags, '-j', '4', ...quiet])),
    })
  })
}

/** Trials that take a second, on one worker, against one process. Starting a worker is not part of it. */
export function queueOverhead(): Promise<Figure> {
  return withServer(async (site) => {
    const flags = ['test', '--agent', 'second', '--repeat', '40', ...quiet]
    const address = await site.server.database()
    const worker = run(site, ['work', '-j', '2', '--queue', address])
    const queue = await openTrialQueue(address)
    while ((await queue.workers()).length === 0) await new Promise((next) => setTimeout(next, 50))
    await queue.close()
    const figure = await compare({
      name: 'trials of 1 s through a queue',
      atMost: 1.05,
      baseline: 'the same without a queue',
      rounds: 1,
      ours: () => ended(run(site, [...flags, '--queue', address])),
      theirs: () => ended(run(site, [...flags, '-j', '2'])),
    })
    await stopped([worker])
    return figure
  })
}

/** Peak memory of the submitter to the end of its run. The trials are not run: what is measured does not depend on them. */
export function queueMemory(): Promise<Figure> {
  return withServer(async (site) => {
    const [few, many] = [await submitterKb(site, 1_000), await submitterKb(site, 100_000)]
    return {
      name: "the submitter's peak memory, 100,000 trials",
      limit: 'at most 1.5x that of 1,000',
      ratio: many / few,
      ok: many / few <= 1.5,
      detail: { oursMb: many / 1024, baselineMb: few / 1024 },
    }
  })
}

/** Taking a trial among 100,000, against taking one among 1,000. `detail` has the time to enqueue and the size of the database. */
export function queueFetch(): Promise<Figure> {
  return withServer(async ({ server }) => {
    const measured = async (count: number) => {
      const url = await server.database()
      const queue = await openTrialQueue(url)
      const need = { agent: 'a', labels: [], memoryMb: 0, gantry: '1' }
      function* trials(): Generator<NewQueuedTrial> {
        for (let index = 0; index < count; index += 1)
          yield { id: `t${index}`, spec: '{}', need, group: 'p/m', expectedUsd: null }
      }
      const enqueueMs = await timed(() =>
        queue.submit({
          ...{ id: 'r', planHash: 'h', document: '{}', project: 'p', capUsd: null, priority: 0 },
          trials: { [Symbol.iterator]: trials },
        }),
      )
      const fetchMs: number[] = []
      for (let index = 0; index < 300; index += 1)
        fetchMs.push(await timed(() => queue.claim('w', () => true)))
      await queue.close()
      const sql = await openPostgres(url)
      const [size] = await sql.query('SELECT pg_database_size(current_database()) AS bytes')
      await sql.close()
      const sorted = fetchMs.toSorted((a, b) => a - b)
      return { enqueueMs, p50: median(fetchMs), p95: sorted[284] ?? 0, mb: Number(size?.bytes) / 2 ** 20 }
    }
    const [few, many] = [await measured(1_000), await measured(100_000)]
    return {
      name: 'taking one of 100,000 waiting trials',
      limit: 'at most 3x taking one of 1,000',
      ratio: many.p50 / few.p50,
      ok: many.p50 / few.p50 <= 3,
      detail: {
        ...{ oursMs: many.p50, baselineMs: few.p50, p95Ms: many.p95 },
        ...{ enqueueMs: many.enqueueMs, databaseMb: many.mb },
      },
    }
  })
}

const quiet = ['--no-cache', '--reporter', 'json:report.json']

function withServer(work: (site: Site) => Promise<Figure>): Promise<Figure> {
  return inTemporary(async (base) => {
    const server = await startPostgres()
    try {
      makeProject(base)
      return await work({ base, server })
    } finally {
      await server.stop()
    }
  }, inMemory)
}

function makeProject(base: string): void {
  mkdirSync(join(base, 'project/template'), { recursive: true })
  writeFileSync(join(base, 'project/template/README.md'), 'Nothing to do.\n')
  writeFileSync(
    join(base, 'project/gantry.yaml'),
    'agents:\n  nothing: { driver: command, command: [/bin/true] }\n  second: { driver: command, command: [sleep, "1"] }\n',
  )
  writeFileSync(
    join(base, 'project/nothing.yaml'),
    `name: nothing
description: Does nothing.
target: { binary: "true" }
template_folder: template
task: { prompt: Do nothing. }
evaluation: { gates: [{ type: file_exists, path: README.md }] }
`,
  )
}

let runs = 0

function run({ base }: Site, argv: readonly string[]): ChildProcess {
  runs += 1
  const [command = '', ...flags] = argv
  return spawn(
    process.execPath,
    [gantry, command, ...(command === 'test' ? ['nothing.yaml'] : []), ...flags],
    {
      cwd: join(base, 'project'),
      // Both sides on the same disk: a worker keeps its trials in the temporary directory.
      env: { ...process.env, AGENT_ARTIFACT_DIR: join(base, 'stores', String(runs)), TMPDIR: base },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
}

async function ended(child: ChildProcess): Promise<void> {
  const code = await new Promise((exit) => child.on('exit', exit))
  if (code !== 0) throw new Error(`gantry ended with ${code}`)
}

async function onQueue(site: Site, flags: readonly string[], count: number): Promise<void> {
  const queue = await site.server.database()
  const workers = Array.from({ length: count }, () => run(site, ['work', '-j', '2', '--queue', queue]))
  await ended(run(site, ['test', ...flags, ...quiet, '--queue', queue]))
  await stopped(workers)
}

async function stopped(workers: readonly ChildProcess[]): Promise<void> {
  for (const worker of workers) worker.kill('SIGTERM')
  await Promise.all(workers.map((worker) => new Promise((exit) => worker.on('exit', exit))))
}

async function submitterKb(site: Site, count: number): Promise<number> {
  const [record] = await oneRecord(site)
  const address = await site.server.database()
  const flags = ['--agent', 'nothing', '--repeat', String(count), ...quiet, '--queue', address]
  const child = run(site, ['test', ...flags])
  const ended = new Promise((close) => child.on('close', close))
  const queue = await openTrialQueue(address)
  while ((await queue.runs()).length === 0) await new Promise((next) => setTimeout(next, 200))
  let peak = 0
  const look = (): void => {
    const [, kb] = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
    peak = Math.max(peak, Number(kb ?? 0))
  }
  const timer = setInterval(look, 20)
  for (;;) {
    const claims = await queue.claim('bench', () => true, 100)
    if (claims.length === 0) break
    await queue.complete(
      claims.map((claim) => ({
        claim,
        outcome: {
          record: JSON.stringify({ ...record, ...JSON.parse(claim.spec), id: claim.trial }),
          archive: null,
          costUsd: null,
        },
      })),
    )
  }
  await queue.close()
  await ended
  clearInterval(timer)
  return peak
}

/** What a trial of the project looks like. */
async function oneRecord(site: Site): Promise<readonly object[]> {
  await ended(run(site, ['test', '--agent', 'nothing', ...quiet]))
  return JSON.parse(readFileSync(join(site.base, 'project/report.json'), 'utf8')).trials
}
