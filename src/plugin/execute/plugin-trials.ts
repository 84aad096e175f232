import { systemClock } from '../../io/clock.ts'
import { agentCostUsd } from '../../model-link/agent-cost.ts'
import { hasFaults } from '../../model-link/run-linked-agent.ts'
import type {
  AttemptOrder,
  AttemptResult,
  EarlierAttempts,
  PlannedTrial,
  TrialKind,
} from '../../trials/contract.ts'
import { type PluginAttempt, unasked } from './attempt.ts'
import { buildExecution } from './build-execution.ts'
import type { Execution } from './contract.ts'
import { type GroupProcess, openGroupProcess } from './group-process.ts'
import { makeAttempt } from './make-attempt.ts'
import type { GroupedTrial, TrialGroup } from './plan-trials.ts'
import type { ExecuteRequest } from './request.ts'

export interface PluginTrialsOptions {
  /** A process of Claude Code was started. */
  onProcess(): void
  /** The trial is kept. */
  onKept(execution: Execution): void
}

/** What a trial of a plugin is: one scenario put to the live process of its group. */
export function pluginTrials(
  request: ExecuteRequest,
  groups: readonly TrialGroup[],
  { onProcess, onKept }: PluginTrialsOptions,
): TrialKind<GroupedTrial, PluginAttempt> {
  const byKey = new Map(groups.map((group) => [group.key, group]))
  const processes = new Map<string, GroupProcess>()
  const processOf = (key: string): GroupProcess => {
    const group = byKey.get(key)
    if (group === undefined) throw new Error(`no trial is of the group ${key}`)
    const process = processes.get(key) ?? openGroupProcess(group.settings, { request, onProcess })
    processes.set(key, process)
    return process
  }
  return {
    started: ({ spec: { trial, scenario } }) =>
      request.onStep({
        kind: 'scenario_start',
        trial: trial.id,
        scenario: scenario.id,
        arm: trial.arm,
        rep: trial.rep,
      }),
    attempt: async (order) => {
      const process = processOf(order.trial.group ?? '')
      const result = await attemptIn(order, process, request)
      await process.tidy()
      return endOf(result, request)
    },
    keep: async ({ spec }, attempt, earlier) => onKept(await keepTrial(spec, attempt, earlier, request)),
    endGroup: async (key) => {
      await processes.get(key)?.close()
      processes.delete(key)
    },
  }
}

/** The trials as the engine takes them. All are made by Claude Code, so all have one provider. */
export function plannedPluginTrials(groups: readonly TrialGroup[]): PlannedTrial<GroupedTrial>[] {
  return groups.flatMap(({ key, trials }) =>
    trials.map((spec) => ({
      id: spec.trial.id,
      title: spec.scenario.id,
      provider: 'claude-code',
      group: key,
      spec,
    })),
  )
}

async function attemptIn(
  { trial: { spec }, maxCostUsd }: AttemptOrder<GroupedTrial>,
  process: GroupProcess,
  request: ExecuteRequest,
): Promise<PluginAttempt> {
  const left = request.budget.remainingUsd()
  const ready = await process.ready(spec.scenario, {
    maxCostUsd: maxCostUsd === null || left === null ? undefined : left + maxCostUsd,
  })
  if (ready.kind === 'broken') return unasked(ready, systemClock.now().getTime())
  return makeAttempt(spec, {
    request,
    live: ready.live,
    openRecorder: () => request.openEventLog(spec.trial.id),
    maxCostUsd: maxCostUsd ?? undefined,
  })
}

function endOf(result: PluginAttempt, request: ExecuteRequest): AttemptResult<PluginAttempt> {
  const { outcome, retryAfterMs, isHopeless = false } = result
  const facts = { model: request.config.execution.model, prices: request.prices }
  const costUsd = agentCostUsd(facts, outcome, result.usage)
  if (outcome.ending === 'over_budget') return { kind: 'over_budget', costUsd, result }
  if (request.signal.aborted || outcome.ending === 'cancelled') return { kind: 'not_run', costUsd }
  const { failure, invalid } = outcome
  // Injected faults would fail again in the same way.
  const isFinal =
    invalid !== undefined || isHopeless || (request.modelLink !== null && hasFaults(request.modelLink))
  if (failure === null || isFinal) return { kind: 'made', costUsd, result }
  const message = `the agent could not work (${failure.reason}): ${failure.message}`
  return { kind: 'failed', costUsd, result, failure: { reason: failure.reason, message, retryAfterMs } }
}

/** Keeps a trial that was made, and reports it. */
export async function keepTrial(
  grouped: GroupedTrial,
  attempt: PluginAttempt,
  earlier: EarlierAttempts,
  request: ExecuteRequest,
): Promise<Execution> {
  const { trial, scenario } = grouped
  const { execution, transcript } = buildExecution(grouped, attempt, earlier, request)
  await request.keep(execution, transcript)
  const { invalid, failure } = execution
  const message = invalid ?? failure?.message
  request.onStep({
    kind: 'scenario_complete',
    trial: trial.id,
    scenario: scenario.id,
    arm: trial.arm,
    rep: trial.rep,
    outcome: invalid !== undefined ? 'invalid' : failure !== undefined ? 'infra' : 'done',
    cost_usd: execution.cost_usd,
    duration_ms: execution.duration_ms,
    ...(message !== undefined && { message }),
  })
  return execution
}
