import type { CompleteEvent, GantryEvent, SessionEvent } from '../../core/event.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { agentLists } from './agent-lists.ts'
import { embedSubagents } from './embed-subagents.ts'
import { finalMetrics } from './metrics.ts'
import { type AtifTrajectory, atifVersion } from './schema.ts'

export interface AtifFacts {
  readonly trial: TrialRecord
  readonly runId?: string
  /** What the agent was asked. Some agents repeat it in their stream, most do not. */
  readonly prompt?: string
  /** For an agent that does not tell its version. */
  readonly agentVersion?: string
}

/** A trial as others read it: what was said, done and used, with each subagent in a trajectory of its own. */
export function toAtif(facts: AtifFacts, events: Iterable<GantryEvent>): AtifTrajectory {
  const { trial } = facts
  const all = [...events]
  const agent = agentOf(facts, all)
  const lists = agentLists(all, openingOf(facts, all))
  if (lists.main.steps().length === 0) lists.main.note(startOf(trial), trial.reason, { kind: 'verdict' })
  const sessionId = sessionOf(all).session_id
  return embedSubagents(lists, trial.id, (list, id, subagents) => {
    const steps = list.steps()
    const isMain = list === lists.main
    return {
      schema_version: atifVersion,
      ...(sessionId === undefined ? {} : { session_id: sessionId }),
      trajectory_id: id,
      agent,
      steps,
      ...(isMain ? { final_metrics: finalMetrics(trial.tokens, trial.costUsd, steps.length) } : {}),
      ...(isMain ? { extra: { gantry: trialFacts(facts, all) } } : {}),
      ...(subagents.length === 0 ? {} : { subagent_trajectories: [...subagents] }),
    }
  })
}

/** The prompt, unless the main agent's first word in the log is the user's. */
function openingOf({ prompt, trial }: AtifFacts, events: readonly GantryEvent[]) {
  if (prompt === undefined) return null
  const first = events.find(
    (event) =>
      (event.event === 'message' && event.role !== 'system' && event.parent_id === undefined) ||
      event.event === 'tool_call',
  )
  return first?.event === 'message' && first.role === 'user' ? null : { ts: startOf(trial), text: prompt }
}

function agentOf(
  { trial, agentVersion }: AtifFacts,
  events: readonly GantryEvent[],
): AtifTrajectory['agent'] {
  const session = sessionOf(events)
  const model = trial.model === 'default' ? session.model : trial.model
  const loaded = Object.entries({
    configured_as: trial.agent,
    tools: session.tools,
    plugins: session.plugins,
    mcp_servers: session.mcp_servers,
    permission_mode: session.permission_mode,
  }).filter(([, value]) => value !== undefined)
  return {
    name: session.agent ?? trial.agent,
    version: session.agent_version ?? agentVersion ?? 'unknown',
    ...(model === undefined ? {} : { model_name: model }),
    extra: Object.fromEntries(loaded),
  }
}

/** An agent may tell of its session in several parts. */
function sessionOf(events: readonly GantryEvent[]): Partial<SessionEvent> {
  const parts = events.filter((event): event is SessionEvent => event.event === 'session')
  return Object.assign({}, ...parts)
}

function trialFacts({ trial, runId }: AtifFacts, events: readonly GantryEvent[]): Record<string, unknown> {
  const end = events.findLast((event): event is CompleteEvent => event.event === 'complete')
  return {
    ...(runId === undefined ? {} : { run_id: runId }),
    trial_id: trial.id,
    case: trial.case,
    attempt: trial.attempt,
    verdict: trial.verdict,
    reason: trial.reason,
    score: trial.score,
    ending: trial.ending,
    agent_exit_code: trial.agentExitCode,
    duration_secs: end?.duration_secs ?? trial.durationMs / 1_000,
  }
}

function startOf({ startedAt }: TrialRecord): number {
  return Date.parse(startedAt) / 1_000
}
