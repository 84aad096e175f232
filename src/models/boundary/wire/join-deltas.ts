import { isObject, type JsonObject, parseJson } from '../../../core/json-fields.ts'
import type { SseEvent } from './contract.ts'
import { jsonText } from './json.ts'

/** How to recognise and write the deltas of a format. */
export interface DeltaRules {
  /** null when it is not a delta. */
  read(body: JsonObject): Delta | null
  /** One delta with this text and all other fields of the deltas in its run. */
  write(bodies: readonly JsonObject[], text: string): JsonObject
  /** Whether the event is empty and may be between two deltas of one run. */
  isAside?(body: JsonObject): boolean
}

/** Adjacent deltas of the same `run` are joined, but not one that `begins` to an earlier one, nor any to one that `ends`. */
interface Delta {
  readonly run: string
  readonly text: string
  readonly begins?: boolean
  readonly ends?: boolean
}

/** Events that were not joined stay the same to the byte. */
export function joinDeltas(events: readonly SseEvent[], rules: DeltaRules): readonly SseEvent[] {
  const runs: Run[] = []
  let open: Run | null = null
  for (const event of events) {
    const body = parseJson(event.data)
    const delta = isObject(body) ? rules.read(body) : null
    if (!isObject(body) || delta === null) {
      if (!isObject(body) || !rules.isAside?.(body)) open = null
      runs.push({ name: null, events: [event], bodies: [], texts: [] })
      continue
    }
    const name = `${event.event ?? ''} ${delta.run}`
    const run: Run = open?.name === name && !delta.begins ? open : { name, events: [], bodies: [], texts: [] }
    if (run !== open) runs.push(run)
    run.events.push(event)
    run.bodies.push(body)
    run.texts.push(delta.text)
    open = delta.ends ? null : run
  }
  return runs.flatMap((run) => closeRun(run, rules))
}

interface Run {
  /** null when the event is not a delta. */
  readonly name: string | null
  readonly events: SseEvent[]
  readonly bodies: JsonObject[]
  readonly texts: string[]
}

function closeRun({ events, bodies, texts }: Run, rules: DeltaRules): readonly SseEvent[] {
  const [first, ...others] = events
  if (first === undefined || others.length === 0) return events
  const data = jsonText(rules.write(bodies, texts.join('')))
  return data === '' ? events : [{ ...first, data }]
}
