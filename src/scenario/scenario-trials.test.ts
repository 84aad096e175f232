import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TrialRecord } from '../core/trial.ts'
import { lazyBoundary } from '../models/boundary/lazy-boundary.ts'
import { createBudget } from '../models/budget.ts'
import type { Reporter } from '../report/contract.ts'
import type { LiveRun } from '../store/contract.ts'
import { openStore } from '../store/open-store.ts'
import { resumeRun } from '../store/resume-run.ts'
import type { AttemptOrder, TrialKind } from '../trials/contract.ts'
import { runTrials } from '../trials/run-trials.ts'
import { openLiveRun } from './open-live-run.ts'
import type { ScenarioTrial } from './plan.ts'
import { type PreparedRun, prepareRun } from './prepare-run.ts'
import { type RunRequestInput, runRequestSchema } from './request.ts'
import { runPrepared } from './run.ts'
import { plannedTrials, scenarioTrials } from './scenario-trials.ts'

let dir: string
const signal = new AbortController().signal

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'gantry-scenario-trials-'))
  const scenario = (name: string) => ({
    name,
    description: 'The agent writes a file.',
    target: { binary: 'sh' },
    template_folder: 'template',
    task: { prompt: 'Write done.txt.' },
    evaluation: { gates: [{ type: 'file_exists', path: 'done.txt' }] },
  })
  put('gantry.yaml', { agents: { worker: { driver: 'scripted', script: 'agents/worker.yaml' } } })
  put('agents/worker.yaml', {
    name: 'worker',
    version: '1',
    turns: [{ usage: { cost_usd: 0.25 } }, { write: { path: 'done.txt', content: 'done' } }],
  })
  put('scenarios/one.yaml', scenario('one'))
  put('scenarios/two.yaml', scenario('two'))
  put('fixtures/template/AGENTS.md', 'Write done.txt.')
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function put(path: string, content: unknown): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true })
  writeFileSync(join(dir, path), typeof content === 'string' ? content : JSON.stringify(content))
}

async function prepare(more: Partial<RunRequestInput> = {}) {
  const env = { PATH: process.env.PATH, HOME: dir, AGENT_ARTIFACT_DIR: join(dir, 'store') }
  const request = runRequestSchema.parse({ cwd: dir, cache: false, concurrency: 1, ...more })
  return { prepared: await prepareRun(request, env, signal), store: openStore({ env, cwd: dir }) }
}

const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

/** Makes the trials as if every attempt were made in another process. */
async function makeElsewhere(
  prepared: PreparedRun,
  run: LiveRun,
  resumed: boolean,
): Promise<{ readonly orders: AttemptOrder<ScenarioTrial>[]; readonly records: TrialRecord[] }> {
  const orders: AttemptOrder<ScenarioTrial>[] = []
  const records: TrialRecord[] = []
  await using boundary = lazyBoundary()
  const kind: TrialKind<ScenarioTrial, TrialRecord> = scenarioTrials(prepared, {
    run,
    store: openStore({ env: prepared.env, cwd: dir }),
    signal,
    boundary: boundary.get,
    resumed,
    batchedJudge: null,
    started: () => {},
    unjudged: () => {},
    keep: async (record) => void records.push(record),
  })
  await runTrials(
    plannedTrials(prepared, prepared.trials),
    {
      ...kind,
      attempt: async (order, context) => {
        expect(throughJson(order)).toEqual(order)
        orders.push(order)
        const result = await kind.attempt(throughJson(order), context)
        expect(throughJson(result)).toEqual(result)
        return throughJson(result)
      },
    },
    {
      concurrency: 1,
      signal,
      budget: createBudget(2),
      retry: {
        mayHelp: () => false,
        maxRetries: 0,
        maxPauseMs: 0,
        longestWaitMs: 0,
        retryWaitMs: () => 0,
        limitWaitMs: () => 0,
      },
      note: () => {},
    },
  )
  return { orders, records }
}

test('orders and results survive JSON, and a resumed attempt finds the finished stages in its order', async () => {
  const { prepared, store } = await prepare()
  const run = await openLiveRun(prepared, { store, reporter: {}, signal, argv: [] })
  const first = await makeElsewhere(prepared, run, false)
  expect(first.records.map(({ case: name, verdict, costUsd }) => [name, verdict, costUsd])).toEqual([
    ['one', 'pass', 0.25],
    ['two', 'pass', 0.25],
  ])
  expect(first.orders.map(({ stages }) => stages)).toEqual([{}, {}])
  run.release()

  // The first trial has a finished agent, the second only a torn workspace.
  const [one, two] = prepared.trials
  rmSync(join(run.dir, 'trials', two?.id ?? '', 'checkpoint-agent.json'))
  const resumed = resumeRun(store, run.id)
  const again = await makeElsewhere(prepared, resumed, true)
  resumed.release()
  expect(again.orders.map(({ trial, stages }) => [trial.id, Object.keys(stages)])).toEqual([
    [one?.id, ['agent']],
    [two?.id, []],
  ])
  expect(again.records.map(({ verdict, costUsd }) => [verdict, costUsd])).toEqual([
    ['pass', 0.25],
    ['pass', 0.25],
  ])
})

test('a finished trial is on disk when an error ends the run', async () => {
  const { prepared, store } = await prepare()
  let started = 0
  let runDir = ''
  const reporter: Reporter = {
    runStarted: (header) => {
      runDir = header.runDir
    },
    trialStarted: () => {
      started += 1
      if (started === 2) throw new Error('out of memory')
    },
  }
  const running = runPrepared(prepared, { store, reporter, signal, argv: [] })
  await expect(running).rejects.toThrow('out of memory')
  const [one, two] = prepared.trials.map(({ id }) => existsSync(join(runDir, 'trials', id, 'result.json')))
  expect([one, two]).toEqual([true, false])
})

test('an error of storing the last trial ends the run', async () => {
  const { prepared, store } = await prepare({ paths: ['one'] })
  const reporter: Reporter = {
    trialEnded: () => {
      throw new Error('no space left')
    },
  }
  const running = runPrepared(prepared, { store, reporter, signal, argv: [] })
  await expect(running).rejects.toThrow('no space left')
})

test('a trial that a killed process had begun keeps its charge', async () => {
  const { prepared, store } = await prepare({ paths: ['one'], maxCostUsd: 1 })
  const run = await openLiveRun(prepared, { store, reporter: {}, signal, argv: [] })
  const [trial] = prepared.trials
  const torn = run.openTrial(trial?.id ?? '')
  const usage = { ts: 1, event: 'usage', input_tokens: 1, output_tokens: 1, cost_usd: 0.1 }
  writeFileSync(
    join(torn, 'events.jsonl'),
    `${JSON.stringify(usage)}\n${JSON.stringify(usage)}\n{"ts":2,"eve`,
  )
  run.release()
  const again = (await prepare({ paths: ['one'], maxCostUsd: 1 })).prepared
  const { summary } = await runPrepared(again, { store, reporter: {}, signal, argv: [], resume: run.id })
  expect(summary.costUsd).toBeCloseTo(0.45)
  expect(again.budget.state()).toMatchObject({ spentUsd: expect.closeTo(0.45), reservedUsd: 0 })
  expect(existsSync(`${run.trialDir(trial?.id ?? '')}.interrupted-1`)).toBe(true)
})
