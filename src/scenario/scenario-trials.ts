import type { TrialRecord } from '../core/trial.ts'
import { isCounted } from '../core/verdict.ts'
import { copyTree } from '../io/copy-tree.ts'
import { isDirectory, pathKind } from '../io/path-kind.ts'
import { hasCostLimit } from '../model-link/choose-model-link.ts'
import { hasFaults } from '../model-link/run-linked-agent.ts'
import type { Boundary } from '../models/boundary/contract.ts'
import { groupOf } from '../report/case-verdict.ts'
import { cachePut } from '../store/cache.ts'
import type { LiveRun, Store } from '../store/contract.ts'
import { openCheckpoints, readCheckpoints } from '../trials/checkpoints.ts'
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
import { cacheKeyOf, openCached } from './cached-trials.ts'
import { type Case, isPairwise } from './case.ts'
import type { EarlierCost } from './estimate.ts'
import type { ScenarioTrial } from './plan.ts'
import { cassetteOf, type PreparedRun } from './prepare-run.ts'
import { diskFull, runTrial } from './trial.ts'
import { trialJudge } from './trial-judge.ts'
import { type TrialLimits, type TrialWork, trialPlace } from './trial-work.ts'

export interface ScenarioTrialsOptions {
  readonly run: LiveRun
  readonly store: Store
  readonly signal: AbortSignal
  /** Opened by the first trial that needs it. */
  boundary(): Promise<Boundary>
  /** Another process started the run and may have left unfinished trials. */
  readonly resumed: boolean
  /** null: the judge is called trial by trial. */
  readonly batchedJudge: BatchedJudge | null
  started(trial: ScenarioTrial): void
  /** Receives a finished record. Its files are written by `storeTrial`. Settles when they are on disk. */
  keep(record: TrialRecord): Promise<void>
  /** The cost of an agent whose trial waits for its judge and has no record yet. null: the trial has a record now. */
  unjudged(trialId: string, agentUsd: number | null): void
}

/** How a scenario trial runs: from the cache if allowed, else with an agent in a fresh workspace. */
export function scenarioTrials(
  prepared: PreparedRun,
  options: ScenarioTrialsOptions,
): TrialKind<ScenarioTrial, TrialRecord> {
  const { run, store } = options
  const cached = openCached(prepared, store)
  return {
    async known({ spec }) {
      const hit = cached(spec)
      if (hit === null) return null
      const dir = run.openTrial(spec.id)
      // The agent's files stay with the run that created them: `cachedFrom` names it, and retention keeps it.
      if (isDirectory(hit.record.dir))
        await copyTree(hit.record.dir, dir, {
          exclude: (path) => notFromCache.has(path) || atomicTemporary.test(path),
        })
      const record = { ...hit.record, id: spec.id, dir, cachedFrom: hit.runId }
      const place = { ...trialPlace(dir), fixture: trialPlace(hit.record.dir).fixture }
      writeEvaluation(record, place, (path) => pathKind(path) !== null)
      return record
    },
    started: ({ spec }) => options.started(spec),
    // A new run has none, and every check costs a system call.
    stages: ({ spec }) => (options.resumed ? stagesOf(spec, run) : {}),
    attempt: (order, context) => attempt(order, context, prepared, options),
    keep: ({ spec }, record) => {
      options.unjudged(spec.id, null)
      const key = record.cachedFrom === null && isCounted(record.verdict) ? cacheKeyOf(prepared, spec) : null
      if (key !== null) cachePut(store, key, { record, runId: run.id })
      return options.keep(record)
    },
    putAside: ({ spec }, record, why) => {
      options.unjudged(spec.id, null)
      storeTrial(prepared, record)
      putAside(run, record, why, store.clock.now())
    },
  }
}

/** Another run may be replacing a file of the trial just now. */
const atomicTemporary = /^[^/]+\.[a-z0-9]+\.tmp$/
const notFromCache = new Set(['result.json', 'evaluation.md', 'pairwise.json', 'fixture', 'home', 'tmp'])

/** Without a finished agent nothing that an attempt left can be used. */
function stagesOf({ id }: ScenarioTrial, run: LiveRun): AttemptOrder<ScenarioTrial>['stages'] {
  const stages = readCheckpoints(run, id)
  if ('agent' in stages) return stages
  run.discardTrial(id)
  return {}
}

/** Answers of a script or a cassette are free, whatever such trials cost before. */
export function isFree(
  { agents, modelLink }: Pick<PreparedRun, 'agents' | 'modelLink'>,
  name: string,
): boolean {
  const [agent, link] = [agents.get(name), modelLink.get(name)]
  return agent !== undefined && link !== undefined && !hasCostLimit(link, agent.meter)
}

export function plannedTrials(
  prepared: PreparedRun,
  trials: readonly ScenarioTrial[],
  earlierCosts: ReadonlyMap<string, EarlierCost> = new Map(),
): PlannedTrial<ScenarioTrial>[] {
  return trials.map((spec) => {
    const maxCostUsd = prepared.cases.get(spec.case)?.scenario.cost.max_usd
    const like = groupOf(spec)
    const agent = prepared.agents.get(spec.agent)
    const earlierCost = isFree(prepared, spec.agent) ? { earlierCostUsd: 0 } : earlierCosts.get(like)
    return {
      id: spec.id,
      title: `${spec.case} (${spec.agent})`,
      provider: providerOf(spec, agent?.driver.name ?? ''),
      like,
      ...earlierCost,
      ...(maxCostUsd !== undefined && { maxCostUsd }),
      spec,
    }
  })
}

/** The rate limit that applies: of the provider in the model's name, else of the agent's own provider. */
function providerOf({ agent, model }: ScenarioTrial, driver: string): string {
  const named = /^([^:/]+)[:/]/.exec(model)?.[1]
  if (named !== undefined) return named
  return driver === 'command' ? `command ${agent}` : driver
}

/** Writes the files for people and removes temporary ones. A trial from the cache has its files already. */
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
  { slot, settle, raise }: AttemptContext,
  prepared: PreparedRun,
  options: ScenarioTrialsOptions,
): Promise<AttemptResult<TrialRecord>> {
  const { spec, maxCostUsd: ownLimitUsd } = order.trial
  let limitUsd = order.maxCostUsd
  const raiseCostLimit = (neededUsd: number): number | null => {
    limitUsd = raise(neededUsd)
    return limitUsd
  }
  const { judge, isRunOutOfMoney } = trialJudge(prepared, options.batchedJudge, {
    maxUsd: ownLimitUsd,
    share: { usd: () => limitUsd, settle, raise: raiseCostLimit },
    slot,
    onAgentPaid: (agentUsd) => options.unjudged(spec.id, agentUsd ?? 0),
  })
  const work = workOf(order, prepared, options, judge, raiseCostLimit)
  const record = await runTrial(work)
  const { costUsd } = record
  const isCutByRun =
    record.ending === 'over_budget' &&
    limitUsd !== null &&
    limitUsd < (ownLimitUsd ?? Number.POSITIVE_INFINITY)
  // The agent's work is kept, to be judged when the run is resumed.
  if (record.judgeError !== undefined && (isRunOutOfMoney() || isCutByRun)) {
    options.unjudged(spec.id, costUsd ?? 0)
    return { kind: 'not_run', costUsd, why: `the agent is done, but ${record.judgeError}` }
  }
  // Work that passes its gates is done, even if its last call went beyond the share.
  if (isCutByRun && record.verdict !== 'pass') return { kind: 'over_budget', costUsd, result: record }
  // An injected fault would fail the same way again, and so would a full disk. A judge has already retried, and the agent's
  // work is not paid for twice because of it.
  const isFinal =
    (work.modelLink !== null && hasFaults(work.modelLink)) ||
    record.judgeError !== undefined ||
    record.reason === diskFull
  if (record.verdict !== 'infra' || isFinal) return { kind: 'made', costUsd, result: record }
  const failure = { reason: record.failure ?? null, message: record.reason, retryAfterMs: null }
  return { kind: 'failed', costUsd, result: record, failure }
}

function workOf(
  { trial: { spec }, tries, maxCostUsd, stages }: AttemptOrder<ScenarioTrial>,
  prepared: PreparedRun,
  { run, store, signal, boundary }: ScenarioTrialsOptions,
  judge: TrialWork['judge'],
  raiseCostLimit: AttemptContext['raise'],
): TrialWork {
  const agent = prepared.agents.get(spec.agent)
  if (agent === undefined) throw new Error(`plan names the unknown agent ${spec.agent}`)
  const entry = caseOf(prepared, spec)
  return {
    planned: spec,
    case: entry,
    agent,
    dir: run.openTrial(spec.id),
    limits: { ...limitsOf(entry, prepared, maxCostUsd), raiseCostLimit },
    judge: isPairwise(entry) ? null : judge,
    prices: prepared.prices,
    redaction: prepared.redaction,
    env: prepared.env,
    modelLink: modelLinkOf(prepared, spec, boundary),
    checkpoints: openCheckpoints(run, spec.id, stages),
    withOracle: false,
    cacheKey: prepared.keyOf(spec),
    caseHash: prepared.caseHashes.get(spec.case),
    infraRetries: tries,
    seed: prepared.request.seed,
    clock: store.clock,
    signal,
  }
}

function caseOf({ cases }: PreparedRun, spec: ScenarioTrial): Case {
  const found = cases.get(spec.case)
  if (found === undefined) throw new Error(`plan names the unknown case ${spec.case}`)
  return found
}

function modelLinkOf(
  prepared: PreparedRun,
  spec: ScenarioTrial,
  boundary: ScenarioTrialsOptions['boundary'],
): TrialWork['modelLink'] {
  const model = prepared.modelLink.get(spec.agent)
  if (model === undefined) return null
  return { model, boundary, faults: prepared.faults, cassette: cassetteOf(prepared, spec) }
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
