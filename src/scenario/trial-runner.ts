import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TrialRecord } from '../core/trial.ts'
import { isCounted } from '../core/verdict.ts'
import { hasFaults } from '../model-link/run-linked-agent.ts'
import type { Boundary } from '../models/boundary/contract.ts'
import { backoffMs } from '../models/retry.ts'
import { cacheGet, cachePut } from '../store/cache.ts'
import type { LiveRun, Store } from '../store/contract.ts'
import type { BatchedJudge } from './batched-judge.ts'
import { cassetteWords, type PlannedTrial } from './plan.ts'
import type { PreparedRun } from './prepare-run.ts'
import type { PutAside } from './put-aside.ts'
import type { Slot } from './slot.ts'
import { takeFromCache } from './take-from-cache.ts'
import { type MadeTrial, runTrial } from './trial.ts'
import { trialJudge } from './trial-judge.ts'
import type { TrialLimits, TrialWork } from './trial-work.ts'

export interface RunnerPowers {
  readonly run: LiveRun
  readonly store: Store
  readonly signal: AbortSignal
  /** Opened by the first trial that needs it. */
  boundary(): Promise<Boundary>
  /** The run was begun by another process, which may have left trials half done. */
  readonly resumed: boolean
  /** null: the judge is asked trial by trial. */
  readonly batchedJudge: BatchedJudge | null
  /** The agent is paid, and there is no record yet: its trial waits for its judge. null = unmetered. */
  onAgentPaid(planned: PlannedTrial, agentUsd: number | null): void
  /** Keeps the files and the bill of a try that will be in no record. */
  putAside(record: TrialRecord, why: PutAside['why']): void
  note(note: { readonly level: 'info' | 'warning'; readonly message: string }): void
}

const defaultTimeoutMs = 300_000

/**
 * Makes one planned trial: from the cache if it may, else for real, again when the machinery broke. Resolves to null when the
 * run's budget does not allow it.
 */
export function createTrialRunner(
  prepared: PreparedRun,
  powers: RunnerPowers,
): (planned: PlannedTrial, slot: Slot) => Promise<MadeTrial | null> {
  const { request, budget } = prepared
  const { run, store, signal } = powers
  return async (planned, slot) => {
    const key = prepared.keys.get(planned.id) ?? null
    // A replay is there to be played: what it proves is that the agent still does the same.
    const mayCache =
      request.cache && request.replay === 'off' && caseOf(prepared, planned).scenario.cost.cache
    const hit = mayCache && key !== null ? cacheGet(store, key) : null
    if (hit !== null) return { record: await takeFromCache(hit, planned, run), store: () => {} }
    let waitedMs = 0
    for (let tries = 0; ; tries += 1) {
      if (budget.remainingUsd() === 0) return null
      const share = budget.reserve(trialShare(prepared, planned))
      if (share.kind === 'refused') return null
      const { judge, isRunOutOfMoney } = trialJudge(prepared, powers.batchedJudge, {
        maxUsd: caseOf(prepared, planned).scenario.cost.max_usd,
        share,
        slot,
        onAgentPaid: (agentUsd) => powers.onAgentPaid(planned, agentUsd),
      })
      const work = workOf(prepared, powers, planned, { key, tries, shareUsd: share.usd, judge })
      const made = await runTrial(work)
      const { record } = made
      share.settle(record.costUsd)
      // The agent's work stays where it is: whoever goes on with the run has it judged.
      if (record.judgeError !== undefined && isRunOutOfMoney()) return null
      if (record.ending === 'over_budget' && cappedByRun(prepared, planned, share.usd)) {
        // Whoever goes on with the run makes the trial anew: what an agent without money left is not to be judged.
        made.store()
        powers.putAside(record, 'over-budget')
        return null
      }
      if (record.verdict !== 'infra') {
        if (mayCache && key !== null && isCounted(record.verdict))
          cachePut(store, key, { record, runId: run.id })
        return made
      }
      // Broken on purpose: it would break again in the same way.
      if (work.modelLink !== null && hasFaults(work.modelLink)) return made
      const pauseMs =
        record.failure === 'rate_limit' || record.failure === 'overloaded' ? backoffMs(tries) : 0
      const again = pauseMs > 0 ? waitedMs + pauseMs <= request.maxPauseMs : tries < request.infraRetries
      // The judge has been asked again already; the agent's work is not paid for twice on its account.
      if (!again || record.judgeError !== undefined) return made
      waitedMs += pauseMs
      powers.note({
        level: 'warning',
        message: `${planned.case} (${planned.agent}): ${record.reason}; trying again${pauseMs > 0 ? ` in ${Math.ceil(pauseMs / 1000)} s` : ''}`,
      })
      made.store()
      powers.putAside(record, 'infra')
      if (pauseMs > 0) await sleep(pauseMs, undefined, { signal })
    }
  }
}

function caseOf(prepared: PreparedRun, planned: PlannedTrial) {
  const found = prepared.cases.get(planned.case)
  if (found === undefined) throw new Error(`plan names the unknown case ${planned.case}`)
  return found
}

function workOf(
  prepared: PreparedRun,
  { run, store, signal, resumed, boundary }: RunnerPowers,
  planned: PlannedTrial,
  {
    key,
    tries,
    shareUsd,
    judge,
  }: Pick<TrialWork, 'judge'> & {
    readonly key: string | null
    readonly tries: number
    readonly shareUsd: number | null
  },
): TrialWork {
  const agent = prepared.agents.get(planned.agent)
  if (agent === undefined) throw new Error(`plan names the unknown agent ${planned.agent}`)
  // In a new run nothing can be left of a trial, and every look costs a system call.
  const mayHaveLeft = resumed && tries === 0
  const read = (name: string): unknown => (mayHaveLeft ? run.checkpointOf(planned.id, name) : undefined)
  if (mayHaveLeft && read('agent') === undefined) run.discardTrial(planned.id)
  return {
    planned,
    case: caseOf(prepared, planned),
    agent,
    dir: run.openTrial(planned.id),
    limits: limitsOf(prepared, planned, shareUsd),
    judge,
    prices: prepared.prices,
    redaction: prepared.redaction,
    env: prepared.env,
    modelLink: agentLinkOf(prepared, planned, boundary),
    checkpoints: {
      read,
      write: (name, value) => run.checkpoint(planned.id, name, value),
    },
    withOracle: false,
    targetVersion: prepared.targets.get(planned.case)?.version ?? null,
    cacheKey: key,
    infraRetries: tries,
    clock: store.clock,
    signal,
  }
}

function agentLinkOf(
  { modelLink, faults, project, request }: PreparedRun,
  planned: PlannedTrial,
  boundary: RunnerPowers['boundary'],
): TrialWork['modelLink'] {
  const model = modelLink.get(planned.agent)
  if (model === undefined) return null
  const cassettes =
    request.cassettes === undefined
      ? resolve(project.root, project.config.cassettes_path)
      : resolve(request.cwd, request.cassettes)
  return { model, boundary, faults, cassette: join(cassettes, ...cassetteWords(planned)) }
}

function limitsOf(prepared: PreparedRun, planned: PlannedTrial, shareUsd: number | null): TrialLimits {
  const { run } = caseOf(prepared, planned).scenario
  const timeoutMs =
    prepared.request.timeoutMs ??
    (run.timeout_secs === undefined ? defaultTimeoutMs : run.timeout_secs * 1000)
  return {
    timeoutMs,
    ...(run.max_turns !== undefined && { maxTurns: run.max_turns }),
    ...(shareUsd !== null && { maxCostUsd: shareUsd }),
  }
}

/** What a trial may cost: the scenario's own limit, else an equal part of what is left for every hand at work. */
function trialShare(
  { request, budget, trials, ...prepared }: PreparedRun,
  planned: PlannedTrial,
): number | null {
  const own = prepared.cases.get(planned.case)?.scenario.cost.max_usd ?? null
  const left = budget.remainingUsd()
  if (left === null || budget.capUsd === null) return own
  const hands = Math.min(request.concurrency, trials.length)
  const part = (budget.capUsd - budget.state().spentUsd) / hands
  return Math.min(own ?? Number.POSITIVE_INFINITY, part, left)
}

function cappedByRun(prepared: PreparedRun, planned: PlannedTrial, shareUsd: number | null): boolean {
  const own = caseOf(prepared, planned).scenario.cost.max_usd
  return shareUsd !== null && (own === undefined || shareUsd < own)
}
