import type { GantryEvent } from '../core/event.ts'
import { asStrings } from '../core/json-fields.ts'
import type { GateResult } from '../core/trial.ts'
import { excerpt } from './excerpt.ts'

/** What a gate rests on: an event of the log by its position, a file of the workspace, a line of the case. */
export type GatePlace =
  | { readonly kind: 'event'; readonly at: number; readonly text: string }
  | { readonly kind: 'file'; readonly path: string; readonly line: number | null }
  | { readonly kind: 'scenario'; readonly line: number }

/** What a gate may rest on of one event: a log may have many, with long texts. */
export interface PlacedCall {
  /** Position of its line in the log. */
  readonly at: number
  readonly ts: number
  readonly event: GantryEvent['event']
  /** Of a tool call. */
  readonly id?: string | undefined
  /** Of a gate. */
  readonly index?: number | undefined
  /** The call in words; null for another event. */
  readonly text: string | null
  /** Files of the gates that the call names. */
  readonly paths: readonly string[]
}

/** `paths`: those that the gates are about. */
export function placedCall(at: number, event: GantryEvent, paths: readonly string[]): PlacedCall {
  const { ts, event: kind } = event
  const text = callText(event)
  // Cloned, because a part of a string keeps the whole in memory.
  const bare = { at, ts, event: kind, text: structuredClone(text), paths: [] }
  if (event.event === 'gate') return { ...bare, index: event.index }
  if (event.event !== 'tool_call') return bare
  const words = paths.length === 0 ? '' : `${event.command ?? ''}\n${JSON.stringify(event.input ?? '')}`
  return { ...bare, id: event.id, paths: paths.filter((path) => words.includes(path)) }
}

export interface EvidenceSources {
  /** Tool calls, calls of the target, and gates. */
  readonly events: readonly PlacedCall[]
  /** Files that the agent created, changed or deleted. */
  readonly changed: readonly string[]
  /** Line of a text in a file of the workspace, from 1; null when it is not there. */
  lineOf(path: string, text: string): number | null
}

const maxPlaces = 12

/** The places a person looks at to check each gate, in the order of the gates. */
export function gateEvidence(gates: readonly GateResult[], sources: EvidenceSources): GatePlace[][] {
  return gates.map((gate, index) => [
    ...placesOf(gate, sources).slice(0, maxPlaces),
    ...sources.events.flatMap(({ at, event, index: ofGate }): GatePlace[] =>
      event === 'gate' && ofGate === index ? [{ kind: 'event', at, text: 'the check itself' }] : [],
    ),
    ...(gate.line === undefined ? [] : [{ kind: 'scenario' as const, line: gate.line }]),
  ])
}

function placesOf({ type, detail, message }: GateResult, sources: EvidenceSources): GatePlace[] {
  const { path } = detail
  if (type === 'component_triggered') return callsNamed(message, sources)
  if (type === 'tool_called') return usesIn(asStrings(detail.uses) ?? [], sources)
  if (type === 'no_transcript_errors') return usesIn(asStrings(detail.failed) ?? [], sources)
  if (type === 'workspace_delta') return filesOf(detail, sources)
  if (typeof path === 'string' && type.startsWith('file_')) return fileOf(path, detail, sources)
  return []
}

/** Calls whose description begins with the words of the gate, such as `shell: npm test (exit code 1)`. */
function usesIn(descriptions: readonly string[], { events }: EvidenceSources): GatePlace[] {
  const wanted = new Set(descriptions.map((text) => text.replace(/ \(exit code [^)]*\)$/, '')))
  return events.flatMap(({ at, text }): GatePlace[] => {
    if (text === null) return []
    const bare = text.replace(/^[^:]*: /, '')
    const isMeant =
      wanted.has(text) || wanted.has(bare) || [...wanted].some((one) => one.endsWith(` ${bare}`))
    return isMeant ? [{ kind: 'event', at, text }] : []
  })
}

/** Calls that the message of a gate names, such as `fired at 12:00:01, call toolu_1`. */
function callsNamed(message: string, { events }: EvidenceSources): GatePlace[] {
  const named = new Set(message.match(/(?<=\bcall )[\w-]+/g))
  return events.flatMap(({ at, id, text }): GatePlace[] =>
    id !== undefined && text !== null && named.has(id.slice(0, 80)) ? [{ kind: 'event', at, text }] : [],
  )
}

function callText(event: GantryEvent): string | null {
  if (event.event === 'tool_call')
    return event.command === undefined ? event.tool : `${event.tool}: ${excerpt(event.command, 120)}`
  return event.event === 'target_call'
    ? `target: ${excerpt(asStrings(event.args)?.join(' ') ?? '', 120)}`
    : null
}

function filesOf(detail: GateResult['detail'], { changed }: EvidenceSources): GatePlace[] {
  const named = ['forbidden', 'unexpected', 'missing'].flatMap((key) => asStrings(detail[key]) ?? [])
  const paths = named.length > 0 ? named.map((text) => text.replace(/^\w+ /, '')) : changed
  return paths.map((path) => ({ kind: 'file', path, line: null }))
}

function fileOf(
  path: string,
  { matched, substring }: GateResult['detail'],
  { events, lineOf }: EvidenceSources,
): GatePlace[] {
  const text = typeof matched === 'string' ? matched : typeof substring === 'string' ? substring : null
  const line = text === null ? null : lineOf(path, text)
  const writers = events.filter(({ paths }) => paths.includes(path))
  return [
    { kind: 'file', path, line },
    ...writers.map(({ at, text }) => ({
      kind: 'event' as const,
      at,
      text: text?.includes(':') === true ? text : `${text}: ${path}`,
    })),
  ]
}
