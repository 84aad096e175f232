import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sampleRecord } from '../../test/support/sample-record.ts'
import type { Store } from './contract.ts'
import { createRun } from './create-run.ts'
import { openRun } from './open-run.ts'
import { openStore } from './open-store.ts'
import { reindex } from './reindex.ts'
import { resumeRun } from './resume-run.ts'

let root: string
let store: Store
/** A compile cache, because short processes spend most of their time starting and a killed one stores nothing. */
let compileCache: string

beforeAll(async () => {
  compileCache = mkdtempSync(join(tmpdir(), 'gantry-compile-'))
  const modules = [
    'create-run',
    'resume-run',
    'list-runs',
    'apply-retention',
    'cache',
    'index-live-run',
    'refresh-index',
  ]
  const warm = modules.map((name) => `import '${import.meta.dirname}/${name}.ts'`).join('\n')
  await outputOf(start(warm, []))
})

afterAll(() => rmSync(compileCache, { recursive: true, force: true }))

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-crash-'))
  store = openStore({ env: {}, cwd: root, root })
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

/** Finishes trials as fast as it can and prints each. Every fifth record is larger than a page. */
const writer = `
  import { writeOut } from '${import.meta.dirname}/../io/exit-now.ts'
  import { createRun } from '${import.meta.dirname}/create-run.ts'
  import { openStore } from '${import.meta.dirname}/open-store.ts'
  import { resumeRun } from '${import.meta.dirname}/resume-run.ts'
  import { sampleRecord } from '${import.meta.dirname}/../../test/support/sample-record.ts'
  const [root, resumed] = process.argv.slice(1)
  const store = openStore({ env: {}, cwd: root, root })
  const run = resumed === undefined
    ? createRun(store, { kind: 'scenario', title: 't', argv: [], cwd: root })
    : resumeRun(store, resumed)
  const ids = Array.from({ length: 5000 }, (_, n) => 't' + n)
  if (resumed === undefined) run.writePlan({ trials: ids.map((id) => ({ id })) })
  writeOut(1, run.id + '\\n')
  for (const id of ids) {
    if (run.finished.has(id)) continue
    run.openTrial(id)
    run.checkpoint(id, 'agent', { id })
    run.finishTrial(sampleRecord(id, { reason: id.repeat(id.endsWith('5') ? 40000 : 20) }))
    writeOut(1, id + '\\n')
  }
`

describe('kill -9 at any instant', () => {
  test('loses no finished trial, leaves no partial record, and the run can be resumed', async () => {
    let runId: string | undefined
    const said = new Set<string>()
    for (let round = 0; round < 7; round += 1) {
      const lines = await killedAfter(
        runId === undefined ? [root] : [root, runId],
        2 + round * 9 + Math.random() * 9,
      )
      runId ??= lines.shift()
      if (runId === undefined) throw new Error('the writer said nothing')
      for (const id of lines) if (id !== runId) said.add(id)

      const seen = new Set<string>()
      for await (const record of openRun(store, runId).trials()) {
        expect(record.reason).toBe(record.id.repeat(record.id.endsWith('5') ? 40_000 : 20))
        expect(seen.has(record.id)).toBe(false)
        seen.add(record.id)
      }
      expect([...said].filter((id) => !seen.has(id))).toEqual([])
      expect(openRun(store, runId).manifest().status).toBe('running')
    }
    const run = resumeRun(store, runId ?? '')
    expect([...said].filter((id) => !run.finished.has(id))).toEqual([])
    expect(run.manifest().resumed_at.length).toBeGreaterThan(0)
    expect(
      [...said].every((id) => JSON.stringify(run.checkpointOf(id, 'agent')) === JSON.stringify({ id })),
    ).toBe(true)
    run.finishTrial(sampleRecord('last'))
    await run.end({ status: 'interrupted' })
    expect(publishedTrials().sort()).toEqual([...run.finished, 'last'].sort())
  })

  test('a run that is never resumed still reaches results.jsonl through reindex', async () => {
    const [runId, ...finished] = await killedAfter([root], 40)
    const { trials, recovered } = await reindex(store)
    expect(trials).toBeGreaterThanOrEqual(finished.length)
    expect(recovered).toBe(trials)
    expect(publishedTrials().filter((id) => !finished.includes(id)).length).toBeLessThanOrEqual(1)
    expect((await reindex(store)).recovered).toBe(0)
    expect(runId).toMatch(/^run_/)
  })
})

test('concurrent processes in one store do not disturb each other', async () => {
  const worker = `
    import { createRun } from '${import.meta.dirname}/create-run.ts'
    import { openStore } from '${import.meta.dirname}/open-store.ts'
    import { cachePut } from '${import.meta.dirname}/cache.ts'
    import { cacheKey } from '${import.meta.dirname}/cache.ts'
    import { listRuns } from '${import.meta.dirname}/list-runs.ts'
    import { applyRetention } from '${import.meta.dirname}/apply-retention.ts'
    import { sampleRecord } from '${import.meta.dirname}/../../test/support/sample-record.ts'
    const store = openStore({ env: {}, cwd: process.argv[1], root: process.argv[1] })
    for (let round = 0; round < 2; round += 1) {
      const run = createRun(store, {
        kind: 'scenario', title: 't', argv: [], cwd: '/',
        onWarning: (message) => process.stdout.write('warning ' + message + '\\n'),
      })
      for (let n = 0; n < 20; n += 1) {
        const record = sampleRecord('t' + n)
        run.finishTrial(record)
        cachePut(store, cacheKey({ n }), { record, runId: run.id })
      }
      await listRuns(store)
      await run.end({ status: 'pass' })
      applyRetention(store)
      process.stdout.write(run.id + '\\n')
    }
  `
  const outputs = await Promise.all([1, 2, 3].map(() => outputOf(start(worker, [root]))))
  const ids = outputs.flatMap((output) => output.lines)
  expect(outputs.map(({ errors }) => errors)).toEqual(['', '', ''])
  expect(new Set(ids).size).toBe(6)
  const lines = readFileSync(store.resultsFile, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.filter(({ kind }) => kind === 'trial')).toHaveLength(120)
  expect(
    lines
      .filter(({ kind }) => kind === 'run')
      .map(({ run_id }) => run_id)
      .sort(),
  ).toEqual(ids.toSorted())
  const { listRuns } = await import('./list-runs.ts')
  const { runs } = await listRuns(store)
  expect(runs.map(({ id, totals }) => `${id} ${totals?.trials}`).sort()).toEqual(
    ids.map((id) => `${id} 20`).sort(),
  )
})

test('concurrent changes to one manifest are all kept', async () => {
  const run = createRun(store, { kind: 'task', title: 't', argv: [], cwd: root })
  const worker = `
    import { changeManifest } from '${import.meta.dirname}/manifest.ts'
    import { updateManifest } from '${import.meta.dirname}/manifest.ts'
    const [dir, name] = process.argv.slice(1)
    for (let n = 0; n < 25; n += 1) updateManifest(dir, (manifest) => changeManifest(manifest, { details: { [name + n]: n } }))
  `
  const outputs = await Promise.all(['a', 'b', 'c'].map((name) => outputOf(start(worker, [run.dir, name]))))
  expect(outputs.map(({ errors }) => errors)).toEqual(['', '', ''])
  expect(Object.keys(run.manifest().details)).toHaveLength(75)
  run.release()
})

function publishedTrials(): string[] {
  return readFileSync(store.resultsFile, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ kind }) => kind === 'trial')
    .map(({ trial_id }) => trial_id)
}

function start(script: string, args: readonly string[]): ChildProcess {
  const env = { ...process.env, NODE_COMPILE_CACHE: compileCache }
  return spawn(process.execPath, ['--input-type=module', '-e', script, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  })
}

/** Lines the writer printed before it was killed, this many milliseconds after its first one. */
async function killedAfter(args: readonly string[], delayMs: number): Promise<string[]> {
  const child = start(writer, args)
  const closed = outputOf(child)
  if (child.stdout === null) throw new Error('no pipe')
  child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), delayMs))
  const { lines, errors } = await closed
  expect(errors).toBe('')
  return lines
}

async function outputOf(child: ChildProcess): Promise<{ lines: string[]; errors: string }> {
  if (child.stdout === null || child.stderr === null) throw new Error('no pipe')
  const lines: string[] = []
  let errors = ''
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  await new Promise((resolve) => child.on('close', resolve))
  return { lines, errors }
}
