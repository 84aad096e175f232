import { setTimeout as wait } from 'node:timers/promises'
import { defined } from '../../../core/json-fields.ts'
import { sum } from '../../../core/sum.ts'
import type { TokenUsage } from '../../../core/trial.ts'
import type { Block, ModelCall, Reply, Responder } from '../contract.ts'
import type { EncodedReply } from '../wire/contract.ts'
import type { BoundaryScript, ScriptError, ScriptRule, ScriptTurn } from './schema.ts'
import { answersIn, lastMessage, opening, spawnAgent, subagentMark, subagentWait } from './subagent-wait.ts'
import { type AgentToolCall, finishCalls, translateCall } from './translate-call.ts'
import { viewWorkspace, type WorkspaceView } from './workspace-view.ts'

const defaultSide: ScriptTurn = { text: 'Scripted session' }

/** Answers from a script. One responder belongs to one session, because it tracks which errors were returned. */
export function createScriptResponder(script: BoundaryScript, places: ScriptDirectories = {}): Responder {
  const { turns, rules, side, compaction, models, pick } = fillPlaces(script, places)
  const view = viewWorkspace(places.workspace)
  const ruled = rules.map((rule, index) => ({
    rule,
    part: createPart(`r${index + 1}_`, createTurnList(rule.turns, rule.pick ?? pick)),
  }))
  const unruled = {
    turn: createPart('', createTurnList(turns, pick)),
    side: createPart('s_', createTurnList([side ?? defaultSide], 'index')),
    compaction: createPart('c_', createTurnList([compaction], 'index')),
  }
  let toolsWereOffered = false
  /** A program without tools has no side calls. In a sequence, a call for a title must not use up a turn. */
  const partOf = (call: ModelCall, kind: keyof typeof unruled): NextTurn => {
    toolsWereOffered ||= call.tools.length > 0
    const isPlain = side === undefined && pick === 'index' && !toolsWereOffered
    return kind === 'side' && isPlain && turns[answersIn(call)]?.calls === undefined
      ? unruled.turn
      : unruled[kind]
  }
  return {
    name: 'script',
    async answer({ call, format, signal }) {
      if (call.kind === 'count_tokens') return verbatim(format.encodeCount(inputTokens(call)))
      if (call.kind === 'list_models') return verbatim(format.encodeModels(models))
      const wait = subagentWait(call)
      if (wait !== null) return replyWithCall({ kind: 'tool_call', ...wait }, call)
      const next = ruled.find(({ rule }) => ruleFits(rule, call))?.part ?? partOf(call, call.kind)
      // Picked before any wait: the order of arrival counts.
      const { turn, id } = next(call)
      return replyWithTurn(turn, { call, id, view, signal })
    },
  }
}

/** Takes turns from a list, with ids for their calls: unique in the session, and the same for the same request. */
type NextTurn = (call: ModelCall) => { readonly turn: ScriptTurn; readonly id: string }

function createPart(name: string, pick: PickTurn): NextTurn {
  const conversations = new Map<string, number>()
  return (call) => {
    const { turn, number } = pick(answersIn(call))
    const key = opening(call)
    const conversation = conversations.get(key) ?? conversations.size + 1
    conversations.set(key, conversation)
    const prefix = call.api === 'anthropic' ? 'toolu' : 'call'
    return { turn, id: `${prefix}_${name}${conversation === 1 ? '' : `v${conversation}_`}${number}` }
  }
}

function verbatim({ status, headers, chunks }: EncodedReply): Reply {
  return { kind: 'verbatim', status, headers, body: chunks }
}

/** Directories of the trial that a script may use by placeholder. */
export interface ScriptDirectories {
  readonly workspace?: string
  readonly home?: string
  readonly tmp?: string
}

/** The same value with `{workspace}`, `{home}` and `{tmp}` replaced in every string. Unknown placeholders and keys of objects stay. */
function fillPlaces<T>(value: T, places: ScriptDirectories): T {
  const inText = (text: string): string =>
    text.replaceAll(
      /\{(workspace|home|tmp)\}/g,
      (whole, name: keyof ScriptDirectories) => places[name] ?? whole,
    )
  // Strings become strings and nothing else changes, so the type stays.
  return JSON.parse(JSON.stringify(value), (_, item) => (typeof item === 'string' ? inText(item) : item))
}

/** Whether all conditions match. The middle of the conversation is ignored: its text is repeated in every request. */
function ruleFits({ when }: Pick<ScriptRule, 'when'>, call: ModelCall): boolean {
  return (
    (when.kind === 'any' || when.kind === call.kind) &&
    (when.system === undefined || call.system.includes(when.system)) &&
    (when.last_message === undefined || lastMessage(call).includes(when.last_message)) &&
    (when.prompt === undefined || opening(call).includes(when.prompt)) &&
    (when.model === undefined || call.model.includes(when.model)) &&
    (when.api === undefined || when.api === call.api) &&
    (when.tool === undefined || call.tools.includes(when.tool))
  )
}

/** A turn of one list and its number, from 1. `answers` is the number of model answers in the request. */
type PickTurn = (answers: number) => { readonly turn: ScriptTurn; readonly number: number }

export function createTurnList(turns: readonly ScriptTurn[], pick: 'index' | 'sequence'): PickTurn {
  return pick === 'index' ? byIndex(turns) : bySequence(turns)
}

/**
 * The same request gets the same turn, except for errors: they come before the answer that follows them in the list,
 * and each is repeated as configured.
 */
function byIndex(turns: readonly ScriptTurn[]): PickTurn {
  const steps = stepsOf(turns)
  const given = steps.map(() => 0)
  return (answers) => {
    const at = Math.min(answers, steps.length - 1)
    const turn = turnAt(steps[at] ?? [], given[at] ?? 0)
    if (turn.error !== undefined) given[at] = (given[at] ?? 0) + 1
    return { turn, number: answers + 1 }
  }
}

function bySequence(turns: readonly ScriptTurn[]): PickTurn {
  let calls = 0
  return () => {
    calls += 1
    return { turn: turnAt(turns, calls - 1), number: calls }
  }
}

/** Split after every answer, because only an answer advances the index. */
function stepsOf(turns: readonly ScriptTurn[]): ScriptTurn[][] {
  const steps: ScriptTurn[][] = [[]]
  for (const [index, turn] of turns.entries()) {
    steps.at(-1)?.push(turn)
    if (turn.error === undefined && index < turns.length - 1) steps.push([])
  }
  return steps
}

/** The turn for a call after `earlier` others. The last one repeats without limit. */
function turnAt(turns: readonly ScriptTurn[], earlier: number): ScriptTurn {
  let left = earlier
  for (const turn of turns.slice(0, -1)) {
    const times = turn.error?.times ?? 1
    if (left < times) return turn
    left -= times
  }
  const last = turns.at(-1)
  if (last === undefined) throw new RangeError('a list of turns is never empty')
  return last
}

interface ReplyContext {
  readonly call: ModelCall
  /** The ids of the turn's calls are numbered after it. */
  readonly id: string
  readonly view: WorkspaceView
  readonly signal: AbortSignal
}

async function replyWithTurn(turn: ScriptTurn, context: ReplyContext): Promise<Reply> {
  if (turn.error === undefined) return answer(turn, context)
  // A disconnected agent needs no answer.
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
      usage: estimateUsage(usage, blocks, call),
      ...defined({ model, delayMs: delay_ms, chunkDelayMs: chunk_delay_ms }),
    },
  }
}

/** An answer that consists of one call and is not a turn of the script. */
function replyWithCall(block: Extract<Block, { readonly kind: 'tool_call' }>, call: ModelCall): Reply {
  const usage = estimateUsage(undefined, [block], call)
  return { kind: 'turn', turn: { blocks: [block], stop: 'tools', usage } }
}

function fail({ status, message, type, retry_after_secs }: ScriptError): Reply {
  return {
    kind: 'failure',
    failure: defined({ status, message, type, retryAfterSecs: retry_after_secs }),
  }
}

const bytesPerToken = 4

/** The usage given in the script, and an estimate by length for the rest. The same request gets the same usage. */
function estimateUsage(usage: ScriptTurn['usage'], blocks: readonly Block[], call: ModelCall): TokenUsage {
  const output = usage?.output_tokens ?? sum(blocks.map(blockTokens))
  const thoughts = blocks.filter(({ kind }) => kind === 'thinking')
  const thinking =
    usage?.thinking_tokens ??
    (thoughts.length > 0 ? Math.min(output, sum(thoughts.map(blockTokens))) : undefined)
  return {
    input: usage?.input_tokens ?? inputTokens(call),
    output,
    cacheRead: usage?.cache_read_tokens ?? 0,
    cacheWrite: usage?.cache_write_tokens ?? 0,
    ...(thinking !== undefined && { thinking }),
  }
}

function inputTokens({ system, messages }: ModelCall): number {
  const parts = messages.flatMap(({ text, toolCalls, toolResults }) => [
    text,
    ...toolCalls.map(({ name, input }) => name + jsonOf(input)),
    ...toolResults.map((result) => result.text),
  ])
  return tokensOf([system, ...parts].join('\n'))
}

function blockTokens(block: Block): number {
  return tokensOf(block.kind === 'tool_call' ? block.name + jsonOf(block.input) : block.text)
}

function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? ''
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken)
}
