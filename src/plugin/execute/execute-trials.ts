import { join } from 'node:path'
import { addCost } from '../../core/add-cost.ts'
import { monotonicMs, systemClock } from '../../io/clock.ts'
import { copyTree } from '../../io/copy-tree.ts'
import { removeTree } from '../../io/files.ts'
import { randomSuffix } from '../../io/ids.ts'
import { createRateLimiter } from '../../io/rate-limiter.ts'
import { hasCostLimit } from '../../model-link/choose-model-link.ts'
import { price } from '../../models/price-table.ts'
import { backoffMs, type CallRetryPolicy } from '../../models/retry.ts'
import type { RetryPolicy, TrialsReport } from '../../trials/contract.ts'
import { passesWithTime } from '../../trials/next-attempt.ts'
import { notRunReasons, runTrials } from '../../trials/run-trials.ts'
import { dollars } from '../../trials/shares.ts'
import type { Components, PluginLoad } from '../analyze/contract.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { note } from '../contract.ts'
import type { ModelUse } from '../evaluate/contract.ts'
import { lostUse } from '../evaluate/metrics/cost-tally.ts'
import { attemptWithoutPrompt } from './attempt.ts'
import { claudeSessionOpener } from './claude-settings.ts'
import type { Execution } from './contract.ts'
import { checkPluginLoad } from './load/plugin-load.ts'
import { type GroupedTrial, plannedPluginTrials } from './plan-trials.ts'
import { keepTrial, pluginTrials } from './plugin-trials.ts'
import { processSettings } from './process-settings.ts'
import type { ExecuteRequest } from './request.ts'

export type ExecutionReport = Awaited<ReturnType<typeof executeTrials>>

/**
 * Runs the trials that are not done yet. Each is stored as soon as it is finished, so none is repeated when this process dies.
 * Throws GantryError USAGE for an agent that cannot run plugin trials.
 */
export async function executeTrials(request: ExecuteRequest) {
  const started = monotonicMs()
  claudeSessionOpener(request, processSettings(request, 'without', null))
  const counts = createCounts()
  const { load, runnable, dropped } = await runnableTrials(request, openTrials(request), counts.kept)
  using template = freezeTemplate(request)
  const frozen = { ...request, config: await template.config() }
  const sayCost = sayFirstCosts(request, runnable.length)
  const kind = pluginTrials(frozen, {
    onProcess: counts.process,
    onLost: counts.lost,
    onKept: (execution) => {
      counts.kept(execution)
      sayCost(execution)
    },
  })
  const isFree = request.modelLink !== null && !hasCostLimit(request.modelLink.model, request.agent.meter)
  const { config, signal, budget } = request
  const ended = await runTrials(plannedPluginTrials(request, runnable, request.earlierUsd), kind, {
    concurrency: config.max_concurrent,
    signal,
    budget: isFree ? null : budget,
    expectedCostUsd: expectedCostUsd(request),
    retry: retryPolicy(request),
    limiter: createRateLimiter(config.execution.requests_per_second),
    note: ({ level, message }) => note(request.onStep, level, message),
  })
  const stopped: 'budget' | 'interrupted' | null = signal.aborted
    ? 'interrupted'
    : ended.notRun.length > 0
      ? 'budget'
      : null
  return { ...counts.report(ended), dropped, duration_ms: Math.round(monotonicMs() - started), load, stopped }
}

/** What a trial costs is known after the first few, long before the last. The first also fills the cache, so it costs more. */
function sayFirstCosts({ onStep }: ExecuteRequest, trials: number): (execution: Execution) => void {
  const costs: number[] = []
  return ({ cost_usd: usd }) => {
    if (usd === null || usd === 0 || trials < 2 * enough || costs.length === enough) return
    costs.push(usd)
    if (costs.length < enough) return
    const [first = 0, ...rest] = costs
    const usual = rest.reduce((sum, cost) => sum + cost, 0) / rest.length
    const message = `a trial costs about ${dollars(usual)}: about ${dollars(first + usual * (trials - 1))} for all ${trials}`
    note(onStep, 'info', message)
  }
}

const enough = 3

function openTrials({ scenarios, trials, done }: ExecuteRequest): readonly GroupedTrial[] {
  const byId = new Map(scenarios.map((scenario) => [scenario.id, scenario]))
  return trials.flatMap((trial) => {
    const scenario = byId.get(trial.scenario_id)
    if (scenario === undefined) throw new Error(`trial ${trial.id} has no scenario`)
    return done.has(trial.id) ? [] : [{ trial, scenario }]
  })
}

/** A snapshot of the directory that workspaces are copied from: changes during the run do not affect scenarios. */
function freezeTemplate({ config, workDir }: ExecuteRequest): Disposable & {
  /** The configuration, with the snapshot instead of the directory. */
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

/** The estimated cost of a scenario before any has run; null without a known price. */
function expectedCostUsd({ config, prices }: ExecuteRequest): number | null {
  const { max_turns, model } = config.execution
  const { input_per_turn, output_per_turn } = config.tuning.token_estimates
  const input = max_turns * input_per_turn
  const output = max_turns * output_per_turn
  return price(model, { input, output, cacheRead: 0, cacheWrite: 0 }, prices)
}

/** Of trials, and of the calls of the other stages. */
export function retryWaits({ tuning: { retry, timeouts } }: PluginConfig): Required<CallRetryPolicy> {
  return {
    attempts: retry.max_retries + 1,
    firstWaitMs: timeouts.retry_initial_ms,
    longestWaitMs: timeouts.retry_max_ms,
    multiplier: retry.backoff_multiplier,
    jitter: retry.jitter_factor,
  }
}

const defaultMaxPauseMs = 15 * 60_000

function retryPolicy({ config, maxPauseMs = defaultMaxPauseMs }: ExecuteRequest): RetryPolicy {
  const waits = retryWaits(config)
  const { max_retries: maxRetries } = config.tuning.retry
  return {
    mayHelp: passesWithTime,
    maxRetries,
    // A user who wants no retries does not want to wait either.
    maxPauseMs: maxRetries > 0 ? maxPauseMs : 0,
    longestWaitMs: waits.longestWaitMs * (1 + waits.jitter),
    retryWaitMs: (retry) => backoffMs(retry, waits),
    limitWaitMs: (tries) => backoffMs(tries, waits),
  }
}

function createCounts() {
  /** `executed`: trials stored by this call. */
  const counts = { executed: 0, infra: 0, invalid: 0, processes: 0 }
  const needsRecording = new Set<string>()
  const lostUsage: ModelUse[] = []
  let keptUsd: number | null = 0
  return {
    lost: (attempt: Parameters<typeof lostUse>[0]) => void lostUsage.push(...lostUse(attempt)),
    process: () => {
      counts.processes += 1
    },
    kept({ cost_usd, failure, invalid, needs_recording, scenario_id }: Execution) {
      counts.executed += 1
      if (invalid !== undefined) counts.invalid += 1
      else if (failure !== undefined) counts.infra += 1
      if (needs_recording === true) needsRecording.add(scenario_id)
      keptUsd = addCost(keptUsd, cost_usd)
    },
    report: ({ notRun }: TrialsReport<GroupedTrial>) => ({
      ...counts,
      /** Of stored and abandoned trials; null = unmetered. */
      cost_usd: notRun.reduce((sum, { costUsd }) => addCost(sum, costUsd), keptUsd),
      /** Paid for attempts that are not in a stored trial: stopped by the budget or an interruption. */
      lost_cost_usd: notRun.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0),
      /** Of it, what is known by model. */
      lost_usage: lostUsage,
      /** Trials that still have to run. */
      not_run: notRun.map(({ trial }) => trial.id),
      not_run_why: notRunReasons(notRun),
      /** Scenarios whose cassettes no longer match. */
      needs_recording: [...needsRecording],
    }),
  }
}

/**
 * The trials that can run, after checking what Claude Code loads. If the plugin does not load, its trials are stored as invalid.
 * Trials of a server that is not connected are skipped. No process is started for either.
 */
async function runnableTrials(
  request: ExecuteRequest,
  open: readonly GroupedTrial[],
  onKept: (execution: Execution) => void,
) {
  const load = await loadOf(request, open)
  if (load === null) return { load, runnable: open, dropped: [] }
  if (load.loaded) return { load, ...withoutUnconnected(request, open, load) }
  const hint = load.recovery_hint === undefined ? '' : ` ${load.recovery_hint}`
  const invalid = `the plugin did not load: ${load.error ?? 'Claude Code reports no reason'}.${hint}`
  request.onStep({ kind: 'error', message: invalid })
  // A program that never answered says nothing about the plugin.
  const why =
    load.error_type === 'timeout'
      ? { failure: { reason: 'timeout' as const, message: invalid } }
      : { failure: null, invalid }
  for (const grouped of open.filter(({ trial }) => trial.arm !== 'without')) {
    const attempt = attemptWithoutPrompt(why, systemClock.now().getTime())
    onKept(await keepTrial(grouped, attempt, { count: 0, costUsd: 0 }, request))
  }
  return { load, runnable: open.filter(({ trial }) => trial.arm === 'without'), dropped: [] }
}

/** Checks once what Claude Code loads of the plugin, before anything is paid for. */
async function loadOf(request: ExecuteRequest, open: readonly GroupedTrial[]): Promise<PluginLoad | null> {
  if (open.every(({ trial }) => trial.arm === 'without')) return null
  if (request.signal.aborted) return null
  const load = request.load ?? (await checkPluginLoad(request))
  for (const message of load.warnings) note(request.onStep, 'warning', message)
  return load
}

/** Trials of a server that is not connected say nothing about the plugin. The arm without the plugin has no server anyway. */
function withoutUnconnected(
  { plugin, config, onStep }: ExecuteRequest,
  open: readonly GroupedTrial[],
  load: PluginLoad,
) {
  const reasons = unconnectedServers(plugin.components, load, config)
  const reasonOf = ({ trial, scenario }: GroupedTrial): string | undefined =>
    scenario.component_type === 'mcp_server' && trial.arm !== 'without' && scenario.case?.mocks === undefined
      ? reasons.get(scenario.component_ref)
      : undefined
  const dropped = open.flatMap((grouped) => {
    const reason = reasonOf(grouped)
    return reason === undefined ? [] : [{ trial: grouped.trial.id, reason }]
  })
  for (const [reason, trials] of Map.groupBy(dropped, (trial) => trial.reason)) {
    const message = `${reason}; ${trials.length} of its trials ${trials.length === 1 ? 'is' : 'are'} skipped`
    note(onStep, 'warning', message)
  }
  return { runnable: open.filter((grouped) => reasonOf(grouped) === undefined), dropped }
}

/** Why a server cannot be tried, by server name. */
function unconnectedServers(
  components: Components,
  { mcp_servers: servers }: PluginLoad,
  config: PluginConfig,
): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>()
  for (const { name, cli_name } of components.mcp_servers) {
    const server = servers.find((reported) => reported.name === cli_name)
    const status = server?.status ?? 'not registered'
    const isTried = status === 'needs-auth' && !config.mcp_servers.skip_auth_required
    if (status === 'connected' || isTried) continue
    const why = server?.error === undefined ? '' : ` (${server.error})`
    reasons.set(name, `the MCP server ${cli_name} is ${status}${why}`)
  }
  return reasons
}
