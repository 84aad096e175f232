import { addCost } from '../../core/add-cost.ts'
import { defined } from '../../core/json-fields.ts'
import { agentCostUsd, pricedUsage } from '../../model-link/agent-cost.ts'
import type { EarlierAttempts } from '../../trials/contract.ts'
import type { PluginAttempt } from './attempt.ts'
import type { Execution, PluginTranscript, TranscriptError } from './contract.ts'
import type { GroupedTrial } from './plan-trials.ts'
import type { ExecuteRequest } from './request.ts'

/** The two documents of a trial, without secrets. Redaction changes texts, never names or numbers. */
export function buildExecution(
  { trial, scenario }: GroupedTrial,
  attempt: PluginAttempt,
  earlier: EarlierAttempts,
  request: ExecuteRequest,
) {
  const { config, plugin } = request
  const { outcome, captures } = attempt
  const facts = { model: config.execution.model, prices: request.prices }
  const usage = pricedUsage(facts, attempt.usage)
  const errors = errorsOf(attempt)
  // The cost of a trial includes all its attempts.
  const costUsd = addCost(agentCostUsd(facts, outcome, usage), earlier.costUsd)
  const execution: Execution = {
    trial,
    scenario_id: scenario.id,
    detected_tools: captures.tools,
    subagent_captures: captures.subagents,
    expansions: captures.expansions,
    hook_responses: captures.hookResponses,
    session_timing: captures.timing,
    errors,
    permission_denials: outcome.deniedTools ?? [],
    termination_type: attempt.termination,
    ending: outcome.ending,
    final_text: outcome.finalText,
    num_turns: attempt.turns,
    api_duration_ms: outcome.apiDurationMs ?? 0,
    duration_ms: attempt.durationMs,
    cost_usd: costUsd,
    tokens: outcome.tokens,
    model_usage: usage,
    workspace_changes: attempt.changes,
    ...(attempt.keptFiles !== undefined && { kept_files: attempt.keptFiles }),
    session_strategy: config.execution.session_strategy ?? 'batched_by_component',
    ...defined({ failure: outcome.failure ?? undefined, invalid: outcome.invalid }),
    ...(attempt.needsRecording && { needs_recording: true }),
    infra_retries: earlier.count,
    ...(earlier.costUsd !== null && earlier.costUsd > 0 && { earlier_cost_usd: earlier.costUsd }),
    warnings: attempt.warnings,
  }
  const transcript: PluginTranscript = {
    metadata: {
      version: 'v3.0',
      plugin_name: plugin.plugin_name,
      scenario_id: scenario.id,
      timestamp: new Date(attempt.startedAtMs).toISOString(),
      model: usage[0]?.model ?? config.execution.model,
      ...defined({ total_cost_usd: costUsd ?? undefined, api_duration_ms: outcome.apiDurationMs }),
    },
    events: attempt.events,
    errors,
  }
  const hide = hidden(request)
  return {
    // Names that Gantry made are not secrets and must stay searchable.
    execution: { ...hide(execution), trial, scenario_id: scenario.id },
    transcript: { ...hide(transcript), metadata: transcript.metadata },
  }
}

/** Redaction only replaces strings, so the result has the shape of the argument. */
function hidden({ redaction, sanitize = (value) => value }: ExecuteRequest): <T>(value: T) => T {
  return <T>(value: T) => sanitize(redaction.value(value)) as T
}

function errorsOf({
  outcome,
  errors,
  termination,
  startedAtMs,
  durationMs,
}: PluginAttempt): TranscriptError[] {
  const timestamp = new Date(startedAtMs + durationMs).toISOString()
  const error = (
    error_type: TranscriptError['error_type'],
    message: string,
    recoverable: boolean,
  ): TranscriptError => ({ type: 'error', error_type, message, timestamp, recoverable })
  const { failure, ending, deniedTools = [] } = outcome
  // The last failure it reported ended it.
  const reported = failure === null ? errors : errors.filter(({ message }) => message !== failure.message)
  return [
    ...reported,
    ...deniedTools.map((tool) => error('permission_denied', `${tool} was not permitted`, true)),
    ...(failure === null ? [] : [error('api_error', failure.message, false)]),
    ...(ending !== 'timed_out'
      ? []
      : [
          termination === 'timeout'
            ? error('timeout', 'the time limit was reached, and the agent was killed', false)
            : error('interrupted', 'the time limit was reached, and the agent was asked to stop', true),
        ]),
    ...(ending === 'over_turns'
      ? [error('interrupted', 'the turn limit was reached, and the agent was asked to stop', true)]
      : []),
    ...(ending === 'over_budget' ? [error('budget_exceeded', 'the budget ran out', false)] : []),
  ]
}
