import { setTimeout as wait } from 'node:timers/promises'
import type { Block, ModelCall, Reply } from '../contract.ts'
import { spawnAgent, subagentMark } from './conversation.ts'
import { usageOf } from './estimate-usage.ts'
import type { ScriptError, ScriptTurn } from './schema.ts'
import { type AgentToolCall, finishCalls, translateCall } from './translate-call.ts'
import type { WorkspaceView } from './workspace-view.ts'

interface ReplyContext {
  readonly call: ModelCall
  /** The calls of the turn are numbered behind it. */
  readonly id: string
  readonly view: WorkspaceView
  readonly signal: AbortSignal
}

/** What a turn of a script comes to for this call. */
export async function replyWith(turn: ScriptTurn, context: ReplyContext): Promise<Reply> {
  if (turn.error === undefined) return answer(turn, context)
  // An agent that goes away while it waits is told nothing anyway.
  if (turn.delay_ms !== undefined)
    await wait(turn.delay_ms, undefined, { signal: context.signal }).catch(() => {})
  return fail(turn.error)
}

function answer(turn: ScriptTurn, { call, id, view }: ReplyContext): Reply {
  const { thinking, text, calls = [], usage, stop, model, delay_ms, chunk_delay_ms } = turn
  const blocks: Block[] = []
  let made = 0
  if (thinking !== undefined) blocks.push({ kind: 'thinking', text: thinking })
  if (text !== undefined) blocks.push({ kind: 'text', text })
  const use = ({ name, input, id: given }: AgentToolCall, mark = ''): void => {
    made += 1
    blocks.push({ kind: 'tool_call', id: given ?? `${id}_${made}${mark}`, name, input })
  }
  for (const wanted of calls) {
    const spoken = translateCall(wanted, call.tools, view)
    if (spoken.kind === 'unsupported') return fail({ status: 400, message: spoken.problem })
    const isAwaited = wanted.subagent !== undefined
    for (const one of spoken.uses) use(one, isAwaited && one.name === spawnAgent ? subagentMark : '')
  }
  if (calls.length === 0 && stop === undefined)
    for (const one of finishCalls(text ?? '', call.tools, view)) use(one)
  return {
    kind: 'turn',
    turn: {
      blocks,
      stop: stop ?? (made > 0 ? 'tools' : 'end'),
      usage: usageOf(usage, blocks, call),
      ...(model !== undefined && { model }),
      ...(delay_ms !== undefined && { delayMs: delay_ms }),
      ...(chunk_delay_ms !== undefined && { chunkDelayMs: chunk_delay_ms }),
    },
  }
}

/** An answer that consists of one call and is none of the script's turns. */
export function replyWithCall(block: Extract<Block, { readonly kind: 'tool_call' }>, call: ModelCall): Reply {
  const usage = usageOf(undefined, [block], call)
  return { kind: 'turn', turn: { blocks: [block], stop: 'tools', usage } }
}

function fail({ status, message, type, retry_after_secs }: ScriptError): Reply {
  return {
    kind: 'failure',
    failure: {
      status,
      message,
      ...(type !== undefined && { type }),
      ...(retry_after_secs !== undefined && { retryAfterSecs: retry_after_secs }),
    },
  }
}
