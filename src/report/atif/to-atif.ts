import type { CompleteEvent, GantryEvent, SessionEvent } from '../../core/event.ts'
import { defined } from '../../core/json-fields.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { createStepList, finalMetrics, type StepList } from './step-list.ts'
import { type AtifTrajectory, atifVersion } from './trajectory.ts'

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
      ...(isMain && {
        final_metrics: finalMetrics(trial.tokens, trial.costUsd, steps.length),
        extra: { gantry: trialFacts(facts, all) },
      }),
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
  const { tools, plugins, mcp_servers, permission_mode } = session
  return {
    name: session.agent ?? trial.agent,
    version: session.agent_version ?? agentVersion ?? 'unknown',
    ...defined({ model_name: model }),
    extra: defined({ configured_as: trial.agent, tools, plugins, mcp_servers, permission_mode }),
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

/** The steps of the main agent, and of each subagent by the call that started it. */
type AgentLists = ReturnType<typeof agentLists>

/** `prompt` opens the conversation; null when the events contain it. */
function agentLists(
  events: readonly GantryEvent[],
  prompt: { readonly ts: number; readonly text: string } | null,
) {
  const main = createStepList()
  const subagents = new Map<string, StepList>()
  const listOf = (parent: string | undefined): StepList => {
    if (parent === undefined) return main
    const list = subagents.get(parent) ?? createStepList()
    subagents.set(parent, list)
    return list
  }
  // A usage event does not name its message: it follows the message it belongs to.
  let speaking = main
  if (prompt !== null) main.message({ event: 'message', role: 'user', ...prompt })
  for (const event of events) {
    switch (event.event) {
      case 'message':
        speaking = listOf(event.parent_id)
        speaking.message(event)
        break
      case 'tool_call':
        speaking = listOf(event.parent_id)
        speaking.call(event)
        break
      case 'tool_result':
        listOf(event.parent_id).result(event)
        break
      case 'usage':
        speaking.usage(event)
        break
      case 'hook': {
        const { ts, event: kind, ...rest } = event
        main.note(ts, `The hook ${event.hook} ran.`, { kind, ...rest })
        break
      }
      case 'error':
        main.note(event.ts, event.message, { kind: event.event, reason: event.reason })
        break
      default:
        break
    }
  }
  return { main, subagents }
}
