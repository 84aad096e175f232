import type { ModelCall, Reply, Responder } from '../contract.ts'
import type { EncodedReply } from '../wire/contract.ts'
import { answersIn, lastMessage, opening, subagentWait } from './conversation.ts'
import { inputTokens } from './estimate-usage.ts'
import type { BoundaryScript, ScriptRule, ScriptTurn } from './schema.ts'
import { replyWith, replyWithCall } from './turn-reply.ts'
import { viewWorkspace } from './workspace-view.ts'

const defaultSide: ScriptTurn = { text: 'Scripted session' }

/** Answers from a script. One responder belongs to one session: it remembers which errors were given. */
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
  /** A program without tools has no side calls. A list that is counted off must not lose a turn to somebody's title. */
  const partOf = (call: ModelCall, kind: keyof typeof unruled): Part => {
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
      const part = ruled.find(({ rule }) => ruleFits(rule, call))?.part ?? partOf(call, call.kind)
      // Picked before anything is waited for: the order of arrival counts.
      const { turn, id } = part.next(call)
      return replyWith(turn, { call, id, view, signal })
    },
  }
}

/** One list of turns, and the ids its calls get: unique in the session, and the same for the same request. */
interface Part {
  next(call: ModelCall): { readonly turn: ScriptTurn; readonly id: string }
}

function createPart(name: string, list: TurnList): Part {
  const conversations = new Map<string, number>()
  return {
    next(call) {
      const { turn, number } = list.pick(answersIn(call))
      const key = opening(call)
      const conversation = conversations.get(key) ?? conversations.size + 1
      conversations.set(key, conversation)
      const prefix = call.api === 'anthropic' ? 'toolu' : 'call'
      return { turn, id: `${prefix}_${name}${conversation === 1 ? '' : `v${conversation}_`}${number}` }
    },
  }
}

function verbatim({ status, headers, chunks }: EncodedReply): Reply {
  return { kind: 'verbatim', status, headers, body: chunks }
}

/** Directories of the trial a script may name without knowing them. */
export interface ScriptDirectories {
  readonly workspace?: string
  readonly home?: string
  readonly tmp?: string
}

/**
 * The same value with `{workspace}`, `{home}` and `{tmp}` replaced in every string of it. A place that is not known stays as
 * written, as does everything else in braces; keys of objects are left alone.
 */
function fillPlaces<T>(value: T, places: ScriptDirectories): T {
  // Strings become strings and nothing else changes, so the shape is that of the argument.
  return fill(value, places) as T
}

function fill(value: unknown, places: ScriptDirectories): unknown {
  if (typeof value === 'string') return fillText(value, places)
  if (Array.isArray(value)) return value.map((item) => fill(item, places))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, fill(field, places)]))
}

function fillText(text: string, places: ScriptDirectories): string {
  return text.replaceAll(
    /\{(workspace|home|tmp)\}/g,
    (whole, name: keyof ScriptDirectories) => places[name] ?? whole,
  )
}

/** Do all conditions hold? The middle of the conversation is never looked at: words in it come back again and again. */
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

/** A turn and the number by which its calls are told from those of other turns, from 1. */
interface PickedTurn {
  readonly turn: ScriptTurn
  readonly number: number
}

/** Gives the turns of one list. `answers` is how many answers of the model are in the request. */
interface TurnList {
  pick(answers: number): PickedTurn
}

export function createTurnList(turns: readonly ScriptTurn[], pick: 'index' | 'sequence'): TurnList {
  return pick === 'index' ? byIndex(turns) : bySequence(turns)
}

/**
 * The same request gets the same turn, however often it comes, but for errors: they stand before the answer they are
 * written in front of, and each is given as often as it says.
 */
function byIndex(turns: readonly ScriptTurn[]): TurnList {
  const steps = stepsOf(turns)
  const given = steps.map(() => 0)
  return {
    pick(answers) {
      const at = Math.min(answers, steps.length - 1)
      const turn = turnAt(steps[at] ?? [], given[at] ?? 0)
      if (turn.error !== undefined) given[at] = (given[at] ?? 0) + 1
      return { turn, number: answers + 1 }
    },
  }
}

function bySequence(turns: readonly ScriptTurn[]): TurnList {
  let calls = 0
  return {
    pick() {
      calls += 1
      return { turn: turnAt(turns, calls - 1), number: calls }
    },
  }
}

/** Cut behind every answer, since only an answer moves the index on. */
function stepsOf(turns: readonly ScriptTurn[]): ScriptTurn[][] {
  const steps: ScriptTurn[][] = [[]]
  for (const [index, turn] of turns.entries()) {
    steps.at(-1)?.push(turn)
    if (turn.error === undefined && index < turns.length - 1) steps.push([])
  }
  return steps
}

/** Which turn the call gets that comes after `earlier` others. The last one goes on without end. */
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
