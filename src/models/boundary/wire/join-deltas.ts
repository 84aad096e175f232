import { isObject, type JsonObject } from '../../../core/json-fields.ts'
import type { SseEvent } from './contract.ts'
import { jsonText, parseJson } from './json.ts'

/** How a format's deltas are recognised and written. */
export interface DeltaRules {
  /** null: not a delta. Neighbours of the same `run` continue each other; nothing continues one that `ends`. */
  read(body: JsonObject): { readonly run: string; readonly text: string; readonly ends: boolean } | null
  /** One delta with this text, and with everything else that was said in the deltas of its run. */
  write(bodies: readonly JsonObject[], text: string): JsonObject
  /** Says nothing and may stand between two deltas of one run. */
  isAside(body: JsonObject): boolean
}

/** Events that were not joined stay as they are, to the byte. */
export function joinDeltas(events: readonly SseEvent[], rules: DeltaRules): readonly SseEvent[] {
  const runs: Run[] = []
  let open: Run | null = null
  for (const event of events) {
    const body = parseJson(event.data)
    const delta = isObject(body) ? rules.read(body) : null
    if (!isObject(body) || delta === null) {
      if (!isObject(body) || !rules.isAside(body)) open = null
      runs.push({ name: null, events: [event], bodies: [], texts: [] })
      continue
    }
    const name = `${event.event ?? ''} ${delta.run}`
    const run: Run = open?.name === name ? open : { name, events: [], bodies: [], texts: [] }
    if (run !== open) runs.push(run)
    run.events.push(event)
    run.bodies.push(body)
    run.texts.push(delta.text)
    open = delta.ends ? null : run
  }
  return runs.flatMap((run) => closeRun(run, rules))
}

interface Run {
  /** null: an event that is no delta. */
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
