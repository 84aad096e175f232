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
  /** How many tool calls it is inside of. */
  depth: number
  /** From 1; 0 before the first turn. */
  turn: number
  /** Seconds since the first event. */
  seconds: number
  /** Sums of the turn, at its first row. */
  usage: { input: number; output: number; costUsd: number | null } | null
}

export const itemKinds = ['message', 'thinking', 'tool', 'hook', 'harness', 'output', 'usage'] as const
export type ItemKind = (typeof itemKinds)[number]

/** The rows of a timeline, from a part of the log or all of it. */
export function itemsOf(events: readonly Placed[]): Item[] {
  const items: Item[] = []
  const open = new Map<string, Item>()
  const depths = new Map<string, number>()
  let waiting: Item | null = null
  let began: number | null = null
  let turn = 0
  let turnItem: Item | null = null
  let isAfterResult = true
  for (const { at, event, head, cut, bytes } of events) {
    began ??= event?.ts ?? null
    const seconds = event === null || began === null ? 0 : event.ts - began
    if (event?.event === 'tool_result') {
      const call = (event.id === undefined ? waiting : open.get(event.id)) ?? null
      isAfterResult = true
      if (call !== null && call.result === null) {
        call.result = { at, event, cut }
        continue
      }
    }
    if (event?.event === 'usage' && turnItem !== null) {
      const before = turnItem.usage ?? { input: 0, output: 0, costUsd: null }
      turnItem.usage = {
        input:
          before.input +
          event.input_tokens +
          (event.cache_read_tokens ?? 0) +
          (event.cache_write_tokens ?? 0),
        output: before.output + event.output_tokens,
        costUsd: event.cost_usd === undefined ? before.costUsd : (before.costUsd ?? 0) + event.cost_usd,
      }
      continue
    }
    const parent = event !== null && 'parent_id' in event ? event.parent_id : undefined
    const depth = parent === undefined ? 0 : (depths.get(parent) ?? 0) + 1
    const kind = kindOf(event)
    const isModel =
      (event?.event === 'message' && event.role !== 'user' && event.role !== 'system') ||
      event?.event === 'tool_call'
    const startsTurn = isModel && depth === 0 && isAfterResult
    if (startsTurn) turn += 1
    const item: Item = { at, kind, event, head, cut, bytes, result: null, depth, turn, seconds, usage: null }
    if (startsTurn) {
      turnItem = item
      isAfterResult = false
    }
    if (event?.event === 'tool_call') {
      waiting = item
      if (event.id !== undefined) {
        open.set(event.id, item)
        depths.set(event.id, depth)
      }
    }
    items.push(item)
  }
  return items
}

function kindOf(event: GantryEvent | null): ItemKind {
  switch (event?.event) {
    case 'message':
      return event.role === 'thinking' ? 'thinking' : 'message'
    case 'tool_call':
    case 'tool_result':
      return 'tool'
    case 'hook':
      return 'hook'
    case 'usage':
      return 'usage'
    case undefined:
    case 'output':
    case 'raw':
      return 'output'
    default:
      return 'harness'
  }
}

/** One line that says what happened. */
export function titleOf({ event, head, result }: Item): string {
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
  }
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

export function isBad({ event, result }: Item): boolean {
  if (result !== null) return result.event.is_error === true || (result.event.exit_code ?? 0) !== 0
  if (event === null) return false
  if (event.event === 'gate') return !event.passed
  if (event.event === 'error') return true
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
