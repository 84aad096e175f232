import { join } from 'node:path'
import { addCost } from '../../core/add-cost.ts'
import { counted } from '../../core/counted.ts'
import { copyTree } from '../../io/copy-tree.ts'
import { removeTree } from '../../io/files.ts'
import { randomSuffix } from '../../io/ids.ts'
import { createRateLimiter } from '../../io/rate-limiter.ts'
import { hasCostLimit } from '../../model-link/choose-model-link.ts'
import { price } from '../../models/pricing.ts'
import { backoffMs } from '../../models/retry.ts'
import type { RetryPolicy, TrialsReport } from '../../trials/contract.ts'
import { runTrials } from '../../trials/run-trials.ts'
import { claudeSessionOpener } from './claude-settings.ts'
import type { Execution } from './contract.ts'
import { type GroupedTrial, groupTrials } from './plan-trials.ts'
import { plannedPluginTrials, pluginTrials } from './plugin-trials.ts'
import { processSettings } from './process-settings.ts'
import type { ExecuteRequest, ExecutionReport } from './request.ts'
import { runnableTrials } from './runnable-trials.ts'

/**
 * Makes the trials that are not done yet, each kept as soon as it is finished: after any end of this process none of them is
 * repeated. Throws GantryError USAGE for an agent that cannot try a plugin.
 */
export async function executeTrials(request: ExecuteRequest): Promise<ExecutionReport> {
  const started = performance.now()
  claudeSessionOpener(request, processSettings(request, 'without', null))
  const counts = createCounts()
  const { load, runnable, dropped } = await runnableTrials(request, openTrials(request), counts.kept)
  using template = freezeTemplate(request)
  const groups = groupTrials(request, runnable)
  const frozen = { ...request, config: await template.config() }
  const kind = pluginTrials(frozen, groups, { onProcess: counts.process, onKept: counts.kept })
  const isFree = request.modelLink !== null && !hasCostLimit(request.modelLink.model, request.agent.meter)
  const { config, signal, budget } = request
  const ended = await runTrials(plannedPluginTrials(groups), kind, {
    concurrency: config.max_concurrent,
    signal,
    budget: isFree ? null : budget,
    expectedCostUsd: expectedCostUsd(request),
    retry: retryPolicy(request),
    limiter: createRateLimiter(config.execution.requests_per_second),
    note: ({ level, message }) => request.onStep({ kind: 'note', level, message }),
  })
  const stopped = signal.aborted ? 'interrupted' : ended.notRun.length > 0 ? 'budget' : null
  if (stopped === 'budget') noteBudget(request, ended)
  return {
    ...counts.report(ended),
    dropped,
    duration_ms: Math.round(performance.now() - started),
    load,
    stopped,
  }
}

function openTrials({ scenarios, trials, done }: ExecuteRequest): readonly GroupedTrial[] {
  const byId = new Map(scenarios.map((scenario) => [scenario.id, scenario]))
  return trials.flatMap((trial) => {
    const scenario = byId.get(trial.scenario_id)
    if (scenario === undefined) throw new Error(`trial ${trial.id} is of no scenario`)
    return done.has(trial.id) ? [] : [{ trial, scenario }]
  })
}

/** The directory that workspaces are copies of, as it is now: a change of it during the run changes no scenario. */
function freezeTemplate({ config, workDir }: ExecuteRequest): Disposable & {
  /** The configuration, with the copy in the place of the directory. */
  config(): Promise<ExecuteRequest['config']>
} {
  const { execution } = config
  const copy = join(workDir, `template-${randomSuffix(8)}`)
  return {
    async config() {
      if (execution.cwd === undefined) return config
      await copyTree(execution.cwd, copy)
      return { ...config, execution: { ...execution, cwd: copy } }
    },
    [Symbol.dispose]: () => {
      if (!config.debug) removeTree(copy)
    },
  }
}

/** What a scenario probably costs, before any has been tried. null without a known price. */
function expectedCostUsd({ config, prices }: ExecuteRequest): number | null {
  const { max_turns, model } = config.execution
  const { input_per_turn, output_per_turn } = config.tuning.token_estimates
  const input = max_turns * input_per_turn
  const output = max_turns * output_per_turn
  return price(model, { input, output, cacheRead: 0, cacheWrite: 0 }, prices)
}

const defaultMaxPauseMs = 15 * 60_000

function retryPolicy({ config, maxPauseMs = defaultMaxPauseMs }: ExecuteRequest): RetryPolicy {
  const { retry, timeouts } = config.tuning
  const waits = {
    attempts: retry.max_retries + 1,
    firstWaitMs: timeouts.retry_initial_ms,
    longestWaitMs: timeouts.retry_max_ms,
    multiplier: retry.backoff_multiplier,
    jitter: retry.jitter_factor,
  }
  return {
    mode: 'passing_failures',
    maxRetries: retry.max_retries,
    // A user who wants no retries does not want to wait either.
    maxPauseMs: retry.max_retries > 0 ? maxPauseMs : 0,
    longestWaitMs: waits.longestWaitMs,
    backoffMs: (number) => backoffMs(number, waits),
  }
}

interface Counts {
  process(): void
  kept(execution: Execution): void
  report(
    ended: TrialsReport<GroupedTrial>,
  ): Omit<ExecutionReport, 'duration_ms' | 'load' | 'stopped' | 'dropped'>
}

function createCounts(): Counts {
  const counts = { executed: 0, infra: 0, invalid: 0, processes: 0 }
  const needsRecording = new Set<string>()
  let keptUsd: number | null = 0
  return {
    process: () => {
      counts.processes += 1
    },
    kept({ cost_usd, failure, invalid, needs_recording, scenario_id }) {
      counts.executed += 1
      if (invalid !== undefined) counts.invalid += 1
      else if (failure !== undefined) counts.infra += 1
      if (needs_recording === true) needsRecording.add(scenario_id)
      keptUsd = addCost(keptUsd, cost_usd)
    },
    report: ({ notRun }) => ({
      ...counts,
      cost_usd: notRun.reduce((sum, { costUsd }) => addCost(sum, costUsd), keptUsd),
      lost_cost_usd: notRun.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0),
      not_run: notRun.map(({ trial }) => trial.id),
      needs_recording: [...needsRecording],
    }),
  }
}

function noteBudget({ onStep }: ExecuteRequest, { refusal, notRun }: TrialsReport<GroupedTrial>): void {
  const why = refusal ?? 'the budget is used up'
  const message = `${why}; ${counted(notRun.length, 'trial is', 'trials are')} still to be made`
  onStep({ kind: 'note', level: 'warning', message })
}
