import type { AgentOutcome, FailureReport } from '../../agents/contract.ts'
import { systemClock } from '../../io/clock.ts'
import { agentCostUsd, pricedUsage } from '../../model-link/agent-cost.ts'
import { authAdvice } from '../../model-link/choose-model-link.ts'
import { hasFaults } from '../../model-link/run-linked-agent.ts'
import type {
  AttemptContext,
  AttemptOrder,
  AttemptResult,
  EarlierAttempts,
  PlannedTrial,
  TrialKind,
} from '../../trials/contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { attemptWithoutPrompt, type PluginAttempt } from './attempt.ts'
import { buildExecution } from './build-execution.ts'
import type { Execution } from './contract.ts'
import { type LiveClaude, openLiveClaude } from './live-claude.ts'
import { proveLoad, whyUnstarted } from './load/plugin-load.ts'
import { makeAttempt } from './make-attempt.ts'
import type { GroupedTrial, PluginTrialSpec } from './plan-trials.ts'
import type { ProcessSettings } from './process-settings.ts'
import type { ExecuteRequest } from './request.ts'

export interface PluginTrialsOptions {
  /** A process of Claude Code was started. */
  onProcess(): void
  /** The trial is stored. */
  onKept(execution: Execution): void
  /** The budget stopped an attempt: what it used is in no trial. */
  onLost(attempt: Pick<Execution, 'cost_usd' | 'model_usage'>): void
}

/** How the trials of a plugin run: each is one scenario in the live process of its group. */
export function pluginTrials(
  request: ExecuteRequest,
  { onProcess, onKept, onLost }: PluginTrialsOptions,
): TrialKind<PluginTrialSpec, PluginAttempt> {
  const processes = new Map<string, GroupProcess>()
  const processOf = ({ id, group = id, spec }: PlannedTrial<PluginTrialSpec>): GroupProcess => {
    const process = processes.get(group) ?? openGroupProcess(spec.settings, { request, onProcess })
    processes.set(group, process)
    return process
  }
  return {
    started: ({ spec }) => request.onStep({ kind: 'scenario_start', ...nameOf(spec) }),
    attempt: async (order, { raise }) => {
      const process = processOf(order.trial)
      const result = await attemptIn(order, process, request, raise)
      await process.tidy()
      return endOf(result, request)
    },
    keep: async ({ spec }, attempt, earlier) => onKept(await keepTrial(spec, attempt, earlier, request)),
    putAside: ({ id }, attempt, why) => {
      const costUsd = costOf(attempt, request)
      request.putAside({ id, costUsd }, why)
      if (why === 'over-budget')
        onLost({ cost_usd: costUsd, model_usage: pricedUsage(request, attempt.usage) })
    },
    endGroup: async (key) => {
      await processes.get(key)?.close()
      processes.delete(key)
    },
  }
}

async function attemptIn(
  { trial: { spec }, maxCostUsd }: AttemptOrder<PluginTrialSpec>,
  process: GroupProcess,
  request: ExecuteRequest,
  raise: AttemptContext['raise'],
): Promise<PluginAttempt> {
  const { budget } = request
  // The limit of a process is about all its scenarios, so what others have reserved for theirs does not count against it.
  const processUsd =
    budget.capUsd === null || maxCostUsd === null ? null : budget.capUsd - budget.state().spentUsd
  const ready = await process.ready(spec.scenario, processUsd ?? undefined)
  if (ready.kind === 'broken') return attemptWithoutPrompt(ready, systemClock.now().getTime())
  return makeAttempt(spec, {
    request,
    live: ready.live,
    openRecorder: () => request.openEventLog(spec.trial.id),
    maxCostUsd,
    raise,
  })
}

function endOf(result: PluginAttempt, request: ExecuteRequest): AttemptResult<PluginAttempt> {
  const { outcome, retryAfterMs, isHopeless = false } = result
  const costUsd = costOf(result, request)
  if (outcome.ending === 'over_budget') return { kind: 'over_budget', costUsd, result }
  if (request.signal.aborted || outcome.ending === 'cancelled') return { kind: 'not_run', costUsd }
  const { failure, invalid } = outcome
  // Injected faults would fail the same way again.
  const isFinal =
    invalid !== undefined || isHopeless || (request.modelLink !== null && hasFaults(request.modelLink))
  if (failure === null || isFinal) return { kind: 'made', costUsd, result }
  const advice = failure.reason === 'auth' ? authAdvice(request.agent) : ''
  const message = `the agent could not work (${failure.reason}): ${failure.message}${advice}`
  return { kind: 'failed', costUsd, result, failure: { reason: failure.reason, message, retryAfterMs } }
}

/** null = unmetered. */
function costOf({ outcome, usage }: PluginAttempt, { config, prices }: ExecuteRequest): number | null {
  return agentCostUsd({ model: config.execution.model, prices }, outcome, usage)
}

export async function keepTrial(
  grouped: GroupedTrial,
  attempt: PluginAttempt,
  earlier: EarlierAttempts,
  request: ExecuteRequest,
): Promise<Execution> {
  const { execution, transcript } = buildExecution(grouped, attempt, earlier, request)
  await request.keep(execution, transcript)
  const { invalid, failure } = execution
  const message = invalid ?? failure?.message
  request.onStep({
    kind: 'scenario_complete',
    ...nameOf(grouped),
    outcome: invalid !== undefined ? 'invalid' : failure !== undefined ? 'infra' : 'done',
    cost_usd: execution.cost_usd,
    duration_ms: execution.duration_ms,
    ...(message !== undefined && { message }),
  })
  return execution
}

function nameOf({ trial, scenario }: GroupedTrial) {
  return { trial: trial.id, scenario: scenario.id, arm: trial.arm, rep: trial.rep }
}

type GroupProcess = ReturnType<typeof openGroupProcess>

type Ready =
  | { readonly kind: 'live'; readonly live: LiveClaude }
  | ({
      readonly kind: 'broken'
      /** It was tried often enough. */
      readonly isHopeless: boolean
    } & Pick<AgentOutcome, 'failure' | 'invalid'>)

/** The process of a group, started when it is needed and restarted when it has died. */
function openGroupProcess(
  settings: ProcessSettings,
  { request, onProcess }: { readonly request: ExecuteRequest; onProcess(): void },
) {
  let live: LiveClaude | null = null
  let problem: string | null = null
  let failedStarts = 0
  let lastFailure: FailureReport | null = null
  const { max_retries } = request.config.tuning.retry

  /** A program that cannot be started for the first trial of a group will not start for the others either. */
  const notStarted = async (failure: FailureReport): Promise<Ready> => {
    await close()
    failedStarts += 1
    lastFailure = failure
    return { kind: 'broken', failure, isHopeless: failedStarts > max_retries }
  }
  const close = async (): Promise<void> => {
    const open = live
    live = null
    await open?.close()
  }
  return {
    /** A process that has loaded the right plugins, or the reason why a scenario cannot run. */
    async ready(scenario: PluginScenario, maxCostUsd: number | undefined): Promise<Ready> {
      if (lastFailure !== null && failedStarts > max_retries)
        return { kind: 'broken', failure: lastFailure, isHopeless: true }
      if (live === null) {
        onProcess()
        live = await openLiveClaude(request, settings, { ...(maxCostUsd !== undefined && { maxCostUsd }) })
        problem = live.loaded === null ? null : proveLoad(settings, request.plugin.plugin_path, live.loaded)
      }
      if (live.loaded === null) return notStarted(await whyUnstarted(live, request))
      if (problem !== null) return { kind: 'broken', failure: null, invalid: problem, isHopeless: true }
      const server = unconnected(scenario, request.plugin, live)
      if (server !== null) return notStarted({ reason: 'unavailable', message: server })
      failedStarts = 0
      return { kind: 'live', live }
    },
    /** Ends a process that cannot be used any more. */
    async tidy(): Promise<void> {
      if (live?.isUsable() === false) await close()
    },
    close,
  }
}

/** A server that was connected at the check may fail in a later process. That says nothing about the plugin. */
function unconnected(
  { component_type, component_ref }: PluginScenario,
  { components }: ExecuteRequest['plugin'],
  { loaded }: LiveClaude,
): string | null {
  if (component_type !== 'mcp_server') return null
  const own = components.mcp_servers.find(({ name }) => name === component_ref)
  const server = loaded?.mcp_servers.find(({ name }) => name === own?.cli_name)
  if (server === undefined || server.status === 'connected' || server.status === 'needs-auth') return null
  return `the MCP server ${server.name} is ${server.status}${server.error === undefined ? '' : `: ${server.error}`}`
}
