import type { CompleteEvent, GantryEvent, SessionEvent } from '../../core/event.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { type AgentLists, agentLists } from './agent-lists.ts'
import { finalMetrics } from './metrics.ts'
import { type AtifTrajectory, atifVersion } from './schema.ts'
import type { StepList } from './step-list.ts'

export interface AtifFacts {
  readonly trial: TrialRecord
  readonly runId?: string
  /** The prompt. Some agents repeat it in their stream, most do not. */
  readonly prompt?: string
  /** For an agent that does not report its version. */
  readonly agentVersion?: string
}

/** A trial in the ATIF format: messages, tool calls and usage, with a separate trajectory for each subagent. */
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

/** The prompt, unless the main agent's log begins with a user message. */
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

/** An agent may report its session in several parts. */
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

type Finish = (list: StepList, id: string, subagents: readonly AtifTrajectory[]) => AtifTrajectory

/**
 * The trajectory of the main agent with those of its subagents inside, each in the one whose call started it and referred to
 * from that call's result. A subagent without a recorded call is kept with the main agent, without a reference.
 */
function embedSubagents({ main, subagents }: AgentLists, rootId: string, finish: Finish): AtifTrajectory {
  const left = new Map(subagents)
  const trajectoryId = (call: string): string => `${rootId}/${call}`
  const take = (call: string, list: StepList): AtifTrajectory => {
    left.delete(call)
    return build(list, trajectoryId(call), [])
  }
  const build = (list: StepList, id: string, others: readonly AtifTrajectory[]): AtifTrajectory => {
    const own: AtifTrajectory[] = []
    for (const [call, subagent] of [...left]) {
      if (left.has(call) && list.refer(call, trajectoryId(call))) own.push(take(call, subagent))
    }
    return finish(list, id, [...own, ...others])
  }
  const known = new Set(reachable(main, subagents))
  const strays = [...subagents].filter(([call]) => !known.has(call))
  const kept: AtifTrajectory[] = []
  for (const [call, subagent] of strays) if (left.has(call)) kept.push(take(call, subagent))
  return build(main, rootId, kept)
}

/** The subagents to which calls lead from the main agent. */
function reachable(main: StepList, subagents: ReadonlyMap<string, StepList>): readonly string[] {
  const found = new Set<string>()
  const open = [main]
  for (let list = open.pop(); list !== undefined; list = open.pop()) {
    for (const [call, subagent] of subagents) {
      if (found.has(call) || !list.hasCall(call)) continue
      found.add(call)
      open.push(subagent)
    }
  }
  return [...found]
}
