import type { AgentHooks, HookedCall } from '../agents/contract.ts'
import type { Decision } from '../core/decision.ts'
import type { GuardedAgent, HookEvent, HookEventDetail, ToolCall, ToolOutcome } from '../core/hook-event.ts'
import { withRefusalMark } from '../core/refusal-mark.ts'
import type { Guard } from './open-guard.ts'

export interface GuardHooksRequest {
  readonly guard: Guard
  readonly agent: GuardedAgent
  /** Unique among the sessions of the project. */
  readonly session: string
  /** The project, which is also the working directory of the agent. */
  readonly root: string
  /** A call in the agent-neutral form. The agent's own call id is added here. */
  readonly toToolCall: (tool: string, input: unknown) => ToolCall
  /** Messages of the guard for the user. */
  readonly onNotice?: (text: string) => void
}

/**
 * The guard for an agent in our own process: the same engine and ledger, without a hook program. When the guard fails, a tool is denied and
 * a stop refused, but only one stop in a row: a broken guard must not block an agent forever.
 */
export function guardHooks(request: GuardHooksRequest): AgentHooks {
  const { guard, agent, session, root, toToolCall, onNotice = () => {} } = request
  const place = { agent, session, root, cwd: root, agentId: null, agentType: null, promptId: null } as const
  const ask = async (happening: HookEventDetail): Promise<Decision> => {
    const decision = await guard.handle({ ...place, ...happening } as HookEvent)
    if (decision.notice !== null) onNotice(decision.notice)
    return decision
  }
  let begun: Promise<Decision> | null = null
  /** Also runs for an agent that does not report its start. A failed start is retried at the next event. */
  const start = (): Promise<Decision> => {
    begun ??= ask({ kind: 'session_start', source: 'startup' }).catch((error: unknown) => {
      begun = null
      throw error
    })
    return begun
  }
  const callOf = ({ id, tool, input }: HookedCall): ToolCall => ({
    ...toToolCall(tool, input),
    id: id ?? null,
  })
  let refusals = 0
  let failedStops = 0
  return {
    begin: async () => {
      try {
        return (await start()).context
      } catch (error) {
        return `${whyFailed(error)} Until it works again no tool is allowed.`
      }
    },
    beforeTool: async (called) => {
      try {
        await start()
        const { verdict, reason, context } = await ask({ kind: 'tool_before', call: callOf(called) })
        if (verdict === 'pass') return { kind: 'allow' }
        return { kind: 'deny', reason: withRefusalMark(joined(reason ?? 'This is refused.', context)) }
      } catch (error) {
        return { kind: 'deny', reason: whyFailed(error) }
      }
    },
    afterTool: async (result) => {
      try {
        const call = callOf(result)
        const { context } = await ask({ kind: 'tool_after', call, outcome: outcomeOf(call, result) })
        return context
      } catch (error) {
        return `${whyFailed(error)} This call was not recorded, so it proves nothing.`
      }
    },
    beforeStop: async (lastMessage) => {
      try {
        await start()
        const again = refusals > 0
        const { verdict, reason, context } = await ask({
          kind: 'stop',
          again,
          lastMessage: lastMessage ?? null,
          background: false,
        })
        failedStops = 0
        if (verdict === 'pass') return { kind: 'allow' }
        refusals += 1
        return { kind: 'refuse', reason: withRefusalMark(joined(reason ?? 'Not yet.', context)) }
      } catch (error) {
        failedStops += 1
        const why = whyFailed(error)
        if (failedStops === 1) return { kind: 'refuse', reason: `${why} Try to stop once more.` }
        onNotice(`${why} The agent was allowed to stop without a verdict.`)
        return { kind: 'allow' }
      }
    },
  }
}

type Result = Parameters<NonNullable<AgentHooks['afterTool']>>[0]

/** A command without a known exit code was stopped before it ended. */
function outcomeOf({ action }: ToolCall, { output, exitCode, isError }: Result): ToolOutcome {
  const failed = isError === true || (exitCode ?? 0) !== 0
  return {
    kind: failed ? 'failure' : 'success',
    exitCode: exitCode ?? null,
    output,
    interrupted: action.kind === 'shell' && exitCode === undefined,
    timedOut: false,
    background: action.kind === 'shell' && action.background,
  }
}

function joined(reason: string, context: string | null): string {
  return context === null ? reason : `${reason}\n\n${context}`
}

function whyFailed(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return withRefusalMark(`the guard itself failed: ${text}.`)
}
