import { join, resolve } from 'node:path'
import type { TrialRecord } from '../core/trial.ts'
import { isCounted } from '../core/verdict.ts'
import { copyTree } from '../io/copy-tree.ts'
import { isDirectory, pathKind } from '../io/path-kind.ts'
import { hasFaults } from '../model-link/run-linked-agent.ts'
import type { Boundary } from '../models/boundary/contract.ts'
import { cacheGet, cachePut } from '../store/cache.ts'
import type { LiveRun, Store } from '../store/contract.ts'
import { openCheckpoints } from '../trials/checkpoints.ts'
import type {
  AttemptContext,
  AttemptOrder,
  AttemptResult,
  PlannedTrial,
  TrialKind,
} from '../trials/contract.ts'
import { putAside } from '../trials/put-aside.ts'
import { writeArtefacts, writeEvaluation } from './artefacts.ts'
import type { BatchedJudge } from './batched-judge.ts'
import type { Case } from './case.ts'
import { cassetteWords, type ScenarioTrial } from './plan.ts'
import type { PreparedRun } from './prepare-run.ts'
import { runTrial } from './trial.ts'
import { trialJudge } from './trial-judge.ts'
import { type TrialLimits, type TrialWork, trialPlace } from './trial-work.ts'

export interface ScenarioTrialsOptions {
  readonly run: LiveRun
  readonly store: Store
  readonly signal: AbortSignal
  /** Opened by the first trial that needs it. */
  boundary(): Promise<Boundary>
  /** The run was begun by another process, which may have left trials half done. */
  readonly resumed: boolean
  /** null: the judge is asked trial by trial. */
  readonly batchedJudge: BatchedJudge | null
  started(trial: ScenarioTrial): void
  /** Takes a finished record. Its files are written by `storeTrial`. */
  keep(record: TrialRecord): void
  /** The cost of an agent whose trial has no record yet, because it waits for its judge. null: the trial has a record now. */
  unjudged(trialId: string, agentUsd: number | null): void
}

/** What a trial of a scenario is: from the cache if it may be, else an agent at work in a fresh workspace. */
export function scenarioTrials(
  prepared: PreparedRun,
  options: ScenarioTrialsOptions,
): TrialKind<ScenarioTrial, TrialRecord> {
  const { run, store } = options
  return {
    async known({ spec }) {
      const key = cacheKeyOf(prepared, spec)
      const hit = key === null ? null : cacheGet(store, key)
      if (hit === null) return null
      const dir = run.openTrial(spec.id)
      // The agent's own files stay with the run that made them: `cachedFrom` names it, and retention keeps it.
      if (isDirectory(hit.record.dir))
        await copyTree(hit.record.dir, dir, { exclude: (path) => notFromCache.has(path) })
      const record = { ...hit.record, id: spec.id, dir, cachedFrom: hit.runId }
      const place = { ...trialPlace(dir), fixture: trialPlace(hit.record.dir).fixture }
      writeEvaluation(record, place, (path) => pathKind(path) !== null)
      return record
    },
    started: ({ spec }) => options.started(spec),
    attempt: (order, context) => attempt(order, context, prepared, options),
    keep: ({ spec }, record) => {
      options.unjudged(spec.id, null)
      const key = record.cachedFrom === null && isCounted(record.verdict) ? cacheKeyOf(prepared, spec) : null
      if (key !== null) cachePut(store, key, { record, runId: run.id })
      options.keep(record)
    },
    putAside: ({ spec }, record, why) => {
      options.unjudged(spec.id, null)
      storeTrial(prepared, record)
      putAside(run, record, why, store.clock.now())
    },
  }
}

const notFromCache = new Set(['result.json', 'evaluation.md', 'fixture', 'home', 'tmp'])

/** The trials as the engine takes them. */
export function plannedTrials(
  { cases, agents }: PreparedRun,
  trials: readonly ScenarioTrial[],
): PlannedTrial<ScenarioTrial>[] {
  return trials.map((spec) => {
    const maxCostUsd = cases.get(spec.case)?.scenario.cost.max_usd
    return {
      id: spec.id,
      title: `${spec.case} (${spec.agent})`,
      provider: providerOf(spec, agents.get(spec.agent)?.driver.name ?? ''),
      ...(maxCostUsd !== undefined && { maxCostUsd }),
      spec,
    }
  })
}

/** Which limit applies: that of the provider in the model's name, else that of the agent's own provider. */
function providerOf({ agent, model }: ScenarioTrial, driver: string): string {
  const named = /^([^:/]+)[:/]/.exec(model)?.[1]
  if (named !== undefined) return named
  return driver === 'command' ? `command ${agent}` : driver
}

/** The files of a trial for people, and no temporary ones. A trial from the cache has its files already. */
export function storeTrial({ cases, agents, targets, redaction }: PreparedRun, record: TrialRecord): void {
  const entry = cases.get(record.case)
  if (record.cachedFrom !== null || entry === undefined) return
  writeArtefacts(record, {
    case: entry,
    toolVersion: agents.get(record.agent)?.probe.version ?? null,
    targetVersion: targets.get(record.case)?.version ?? null,
    redaction,
  })
}

async function attempt(
  order: AttemptOrder<ScenarioTrial>,
  { slot, settle }: AttemptContext,
  prepared: PreparedRun,
  options: ScenarioTrialsOptions,
): Promise<AttemptResult<TrialRecord>> {
  const { spec, maxCostUsd: ownLimitUsd } = order.trial
  const { judge, isRunOutOfMoney } = trialJudge(prepared, options.batchedJudge, {
    maxUsd: ownLimitUsd,
    share: { usd: order.maxCostUsd, settle },
    slot,
    onAgentPaid: (agentUsd) => options.unjudged(spec.id, agentUsd ?? 0),
  })
  const work = workOf(order, prepared, options, judge)
  const record = await runTrial(work)
  const { costUsd } = record
  // The agent's work stays where it is, to be judged when the run is resumed.
  if (record.judgeError !== undefined && isRunOutOfMoney()) return { kind: 'not_run', costUsd }
  const isCappedByRun =
    order.maxCostUsd !== null && order.maxCostUsd < (ownLimitUsd ?? Number.POSITIVE_INFINITY)
  if (record.ending === 'over_budget' && isCappedByRun)
    return { kind: 'over_budget', costUsd, result: record }
  // Broken on purpose, it would break again in the same way. A judge has been asked again already, and the agent's work is
  // not paid for twice on its account.
  const isFinal = (work.modelLink !== null && hasFaults(work.modelLink)) || record.judgeError !== undefined
  if (record.verdict !== 'infra' || isFinal) return { kind: 'made', costUsd, result: record }
  const failure = { reason: record.failure ?? null, message: record.reason, retryAfterMs: null }
  return { kind: 'failed', costUsd, result: record, failure }
}

function workOf(
  { trial: { spec }, tries, maxCostUsd }: AttemptOrder<ScenarioTrial>,
  prepared: PreparedRun,
  { run, store, signal, resumed, boundary }: ScenarioTrialsOptions,
  judge: TrialWork['judge'],
): TrialWork {
  const agent = prepared.agents.get(spec.agent)
  if (agent === undefined) throw new Error(`plan names the unknown agent ${spec.agent}`)
  const entry = caseOf(prepared, spec)
  const checkpoints = openCheckpoints(run, spec.id, resumed && tries === 0)
  if (resumed && tries === 0 && checkpoints.read('agent') === undefined) run.discardTrial(spec.id)
  return {
    planned: spec,
    case: entry,
    agent,
    dir: run.openTrial(spec.id),
    limits: limitsOf(entry, prepared, maxCostUsd),
    judge,
    prices: prepared.prices,
    redaction: prepared.redaction,
    env: prepared.env,
    modelLink: modelLinkOf(prepared, spec, boundary),
    checkpoints,
    withOracle: false,
    cacheKey: prepared.keys.get(spec.id) ?? null,
    infraRetries: tries,
    clock: store.clock,
    signal,
  }
}

function caseOf({ cases }: PreparedRun, spec: ScenarioTrial): Case {
  const found = cases.get(spec.case)
  if (found === undefined) throw new Error(`plan names the unknown case ${spec.case}`)
  return found
}

/** null: neither taken from the cache nor put there. A replay is there to be played: it proves that the agent still does the same. */
function cacheKeyOf(prepared: PreparedRun, spec: ScenarioTrial): string | null {
  const { request, keys } = prepared
  const mayCache = request.cache && request.replay === 'off' && caseOf(prepared, spec).scenario.cost.cache
  return mayCache ? (keys.get(spec.id) ?? null) : null
}

function modelLinkOf(
  { modelLink, faults, project, request }: PreparedRun,
  spec: ScenarioTrial,
  boundary: ScenarioTrialsOptions['boundary'],
): TrialWork['modelLink'] {
  const model = modelLink.get(spec.agent)
  if (model === undefined) return null
  const cassettes =
    request.cassettes === undefined
      ? resolve(project.root, project.config.cassettes_path)
      : resolve(request.cwd, request.cassettes)
  return { model, boundary, faults, cassette: join(cassettes, ...cassetteWords(spec)) }
}

const defaultTimeoutMs = 300_000

function limitsOf(
  { scenario: { run } }: Case,
  { request }: PreparedRun,
  shareUsd: number | null,
): TrialLimits {
  const ownMs = run.timeout_secs === undefined ? defaultTimeoutMs : run.timeout_secs * 1000
  return {
    timeoutMs: request.timeoutMs ?? ownMs,
    ...(run.max_turns !== undefined && { maxTurns: run.max_turns }),
    ...(shareUsd !== null && { maxCostUsd: shareUsd }),
  }
}
