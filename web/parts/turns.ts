import type { EventPage, GantryEvent } from '../api/operations.ts'

/** An event of the log with its place. */
export type Placed = EventPage['events'][number]

type Of<K extends GantryEvent['event']> = Extract<GantryEvent, { readonly event: K }>

/** One row of the timeline: an event, or a tool call with its result. */
export interface Item {
  readonly at: number
  readonly kind: ItemKind
  readonly event: GantryEvent | null
  /** The beginning of a line that is not an event. */
  readonly head: string | null
  readonly cut: boolean
  readonly bytes: number
  result: { readonly at: number; readonly event: Of<'tool_result'>; readonly cut: boolean } | null
  /** Positions of the calls it is inside of, as far as they are loaded. */
  readonly parents: readonly number[]
  /** How many tool calls it is inside of. */
  readonly depth: number
  /** null before the first turn. */
  readonly turn: Turn | null
}

/** One answer of the model with the calls it made. */
export interface Turn {
  /** null when the beginning of the log is not loaded. */
  readonly number: number | null
  /** Seconds since the first event of the log, as far as it is known. */
  readonly began: number | null
  /** From the end of the turn before it: the time of the model and of its calls. */
  seconds: number
  /** What the agent reported. */
  usage: Tokens | null
  /** What the boundary saw. */
  calls: (Tokens & { count: number; seconds: number }) | null
}

interface Tokens {
  input: number
  output: number
  costUsd: number | null
}

export const itemKinds = [
  'message',
  'thinking',
  'tool',
  'hook',
  'harness',
  'output',
  'raw',
  'model',
  'usage',
] as const
export type ItemKind = (typeof itemKinds)[number]

/** The rows of a timeline, from a part of the log or all of it. */
export function itemsOf(events: readonly Placed[], isFromStart = true): Item[] {
  const items: Item[] = []
  const open = new Map<string, Item>()
  let waiting: Item | null = null
  let first: number | null = null
  let turn: Turn | null = null
  let number = 0
  let isAfterResult = true
  /** Where the turn before ended. */
  let ended = 0
  let last = 0
  /** Answers of the model that come before the first row of their turn. */
  let early: Of<'model_call'>[] = []
  for (const { at, cut, bytes, ...line } of events) {
    const { event, head } = asShown(line)
    first ??= event?.ts ?? null
    const now = event === null || first === null ? last : event.ts - first
    if (event?.event === 'tool_result') {
      const call = (event.id === undefined ? waiting : open.get(event.id)) ?? null
      if (turn !== null) turn.seconds = Math.max(turn.seconds, now - ended)
      last = now
      // The results of a subagent do not end the turn that started it.
      if (event.parent_id === undefined) isAfterResult = true
      if (call !== null && call.result === null) {
        call.result = { at, event, cut }
        continue
      }
    }
    if (event?.event === 'usage' && turn !== null) {
      turn.usage = plus(turn.usage, event)
      continue
    }
    if (event?.event === 'model_call') {
      if (isAfterResult) early.push(event)
      else if (turn !== null) turn.calls = plusCall(turn.calls, event)
    }
    const parentId = event !== null && 'parent_id' in event ? event.parent_id : undefined
    const parent = parentId === undefined ? undefined : open.get(parentId)
    const depth = parentId === undefined ? 0 : Math.min((parent?.depth ?? 0) + 1, maxDepth)
    const isModel =
      (event?.event === 'message' && event.role !== 'user' && event.role !== 'system') ||
      event?.event === 'tool_call'
    if (isModel && depth === 0 && isAfterResult) {
      ended = last
      number += 1
      turn = {
        number: isFromStart ? number : null,
        began: isFromStart ? now : null,
        seconds: 0,
        usage: null,
        calls: early.reduce<Turn['calls']>(plusCall, null),
      }
      early = []
      isAfterResult = false
    }
    if (isModel && turn !== null) turn.seconds = Math.max(turn.seconds, now - ended)
    last = now
    const parents = parent === undefined ? [] : insideOf(parent)
    const item: Item = {
      at,
      kind: kindOf(event),
      event,
      head,
      cut,
      bytes,
      result: null,
      parents,
      depth,
      turn,
    }
    if (event?.event === 'tool_call') {
      waiting = item
      if (event.id !== undefined) open.set(event.id, item)
    }
    items.push(item)
  }
  return items
}

/** Calls inside of more calls than this are shown beside each other. */
const maxDepth = 20

function insideOf({ parents, at }: Item): readonly number[] {
  return parents.length < maxDepth ? [...parents, at] : parents
}

type Line = Pick<Placed, 'event' | 'head'>

/** The line as text when it is of a kind, or has fields, that this page does not know. */
export function asShown({ event, head }: Line): Line {
  return event === null || isKnown(event) ? { event, head } : { event: null, head: JSON.stringify(event) }
}

/** What the page shows of an event must be there. */
const needed: Readonly<Record<GantryEvent['event'], readonly string[]>> = {
  spawn: ['command', 'args'],
  session: ['agent'],
  output: ['text'],
  message: ['role', 'text'],
  tool_call: ['tool'],
  tool_result: ['output'],
  usage: ['input_tokens', 'output_tokens'],
  model_call: ['model', 'kind', 'status', 'by', 'duration_secs'],
  hook: ['hook'],
  error: ['reason', 'message'],
  raw: ['line'],
  complete: ['ending'],
  setup_command: ['command'],
  health_check: ['command'],
  target_call: ['args'],
  post_script: ['command'],
  gate: ['type', 'message'],
  evaluator: ['name'],
  judge: ['model'],
  note: ['message'],
}
const texts = [
  'text',
  'role',
  'tool',
  'command',
  'output',
  'line',
  'message',
  'kind',
  'stream',
  'by',
  'model',
]
const numbers = [
  'index',
  'status',
  'ts',
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cost_usd',
  'duration_secs',
]

export function isKnown(event: GantryEvent): boolean {
  const fields = new Map<string, unknown>(Object.entries(event))
  const isOf = (type: string) => (name: string) => !fields.has(name) || typeof fields.get(name) === type
  return (
    Object.hasOwn(needed, event.event) &&
    ['ts', ...needed[event.event]].every((name) => fields.has(name)) &&
    (!fields.has('args') || Array.isArray(fields.get('args'))) &&
    texts.every(isOf('string')) &&
    numbers.every(isOf('number'))
  )
}

function plus(before: Tokens | null, event: Of<'usage'> | Of<'model_call'>): Tokens {
  const { input_tokens: fresh = 0, cache_read_tokens: read = 0, cache_write_tokens: written = 0 } = event
  const { input = 0, output = 0, costUsd = null } = before ?? {}
  return {
    input: input + fresh + read + written,
    output: output + (event.output_tokens ?? 0),
    costUsd: event.cost_usd === undefined ? costUsd : (costUsd ?? 0) + event.cost_usd,
  }
}

function plusCall(before: Turn['calls'], event: Of<'model_call'>): NonNullable<Turn['calls']> {
  const { count = 0, seconds = 0 } = before ?? {}
  return { ...plus(before, event), count: count + 1, seconds: seconds + event.duration_secs }
}

function kindOf(event: GantryEvent | null): ItemKind {
  switch (event?.event) {
    case 'message':
      return event.role === 'thinking' ? 'thinking' : 'message'
    case 'tool_call':
    case 'tool_result':
      return 'tool'
    case 'hook':
      return isBadHook(event) ? 'harness' : 'hook'
    case 'usage':
      return 'usage'
    case 'model_call':
      return isBadCall(event) ? 'harness' : 'model'
    case 'raw':
      return 'raw'
    case undefined:
    case 'output':
      return 'output'
    default:
      return 'harness'
  }
}

/** One line that says what happened. Paths of the workspace are shown as the agent could have written them. */
export function titleOf(item: Item): string {
  // One word after the other: a pattern for all of the text would try each of its slashes as the beginning of a path.
  return wholeTitle(item)
    .slice(0, maxTitleChars)
    .replaceAll(/[^\s"'`:]+/g, (word) =>
      word.replace(
        /^([^/]*)\/.*\/trials\/[^/]+\/fixture\/?(.*)$/,
        (_, before, rest) => `${before}${rest === '' ? '.' : rest}`,
      ),
    )
}

/** More than any row shows. */
const maxTitleChars = 2_000

function wholeTitle({ event, head, result }: Item): string {
  if (event === null) return head ?? ''
  switch (event.event) {
    case 'message':
      return event.text
    case 'tool_call': {
      const exit = result?.event.exit_code
      const end =
        exit === undefined
          ? result?.event.is_error === true
            ? ' → error'
            : ''
          : exit === 0
            ? ''
            : ` → exit ${exit}`
      return `${event.command ?? inputWords(event.input)}${end}`
    }
    case 'tool_result':
      return event.output
    case 'setup_command':
    case 'health_check':
      return `${event.command}${event.success ? '' : ` → exit ${event.exit_code}`}`
    case 'hook':
      return [event.hook, event.name, event.outcome, event.output].filter(Boolean).join(' · ')
    case 'spawn':
      return `${event.command} ${event.args.join(' ')}`
    case 'session':
      return [event.agent, event.agent_version, event.model].filter(Boolean).join(' ')
    case 'output':
      return event.text
    case 'raw':
      return event.line
    case 'error':
      return `${event.reason}: ${event.message}`
    case 'complete':
      return `${event.ending}, exit code ${event.exit_code ?? 'unknown'}`
    case 'target_call':
      return `${event.args.join(' ')} → exit ${event.exit_code ?? 'unknown'}`
    case 'post_script':
      return `${event.command} → exit ${event.exit_code}`
    case 'gate':
      return `${event.type}: ${event.message}`
    case 'evaluator':
      return `${event.name}: ${event.error ?? event.score ?? ''}`
    case 'judge':
      return `${event.model}: ${event.error ?? event.weighted_score ?? ''}`
    case 'note':
      return event.message
    case 'usage':
      return `${event.input_tokens} in, ${event.output_tokens} out`
    case 'model_call':
      return `${event.model} ${event.kind.replaceAll('_', ' ')}: ${answerWords(event)}`
  }
}

/** What the boundary did with a call. */
export function answerWords({ by, fault, status }: Of<'model_call'>): string {
  const isNamed = fault !== undefined && fault !== 'status'
  const words = isNamed ? `broken on purpose (${fault})` : (boundaryWords[by] ?? by)
  return status === 200 ? words : `${words}, status ${status}`
}

const boundaryWords: Readonly<Record<string, string>> = {
  script: 'scripted',
  replay: 'replayed',
  record: 'recorded',
  auto: 'recorded',
  upstream: 'by the provider',
  fault: 'broken on purpose',
}

/** The name at the beginning of a row. */
export function labelOf({ event }: Item): string {
  if (event === null) return 'line'
  switch (event.event) {
    case 'message':
      return event.role
    case 'tool_call':
      return event.tool
    case 'output':
      return event.stream ?? 'output'
    default:
      return event.event.replaceAll('_', ' ')
  }
}

function isBadHook({ exit_code: code = 0, outcome }: Of<'hook'>): boolean {
  return code !== 0 || outcome === 'error'
}

export function isBadCall({ fault, status }: Of<'model_call'>): boolean {
  return fault !== undefined || status >= 400
}

export function isBad({ event, result }: Item): boolean {
  if (result !== null) return result.event.is_error === true || (result.event.exit_code ?? 0) !== 0
  if (event === null) return false
  if (event.event === 'gate') return !event.passed
  if (event.event === 'error') return true
  if (event.event === 'hook') return isBadHook(event)
  if (event.event === 'model_call') return isBadCall(event)
  return (event.event === 'setup_command' || event.event === 'health_check') && !event.success
}

const telling = [
  'file_path',
  'path',
  'pattern',
  'url',
  'query',
  'description',
  'prompt',
  'skill',
  'subagent_type',
]

function inputWords(input: unknown): string {
  if (typeof input !== 'object' || input === null) return input === undefined ? '' : String(input)
  const known = telling.flatMap((key) => {
    const value = (input as Record<string, unknown>)[key]
    return typeof value === 'string' ? [value] : []
  })
  return known.length > 0 ? known.slice(0, 2).join(' · ') : JSON.stringify(input)
}

/** All texts of a row, for its opened state. */
export function bodyOf(item: Item): readonly (readonly [name: string, text: string])[] {
  const { event, head, result } = item
  if (event === null) return [['line', head ?? '']]
  if (event.event === 'message') return [['', event.text]]
  if (event.event === 'tool_call') {
    const input = event.command === undefined ? JSON.stringify(event.input ?? null, null, 2) : event.command
    const extra =
      event.command !== undefined && event.input !== undefined ? JSON.stringify(event.input, null, 2) : null
    return [
      [event.command === undefined ? 'input' : 'command', input],
      ...(extra === null || extra.length < input.length + 40 ? [] : ([['input', extra]] as const)),
      ...(result === null ? [] : ([['output', result.event.output]] as const)),
    ]
  }
  return Object.entries(event).flatMap(([key, value]) =>
    key === 'ts' || key === 'event' || value === undefined
      ? []
      : [[key, typeof value === 'string' ? value : JSON.stringify(value, null, 2)] as const],
  )
}
