import { formatDuration } from '../../core/duration.ts'
import type { GantryEvent } from '../../core/event.ts'
import { eventHtml, outputHtml, resultHtml } from './event-html.ts'

export interface Transcript {
  readonly html: string
  /** There is more in the raw file. */
  readonly cut: boolean
}

const maxEvents = 400
const maxChars = 200_000

/**
 * Events as a conversation a person can read: what was said, which tool was called, what came back under the call it
 * belongs to. Bounded; nothing is read beyond the bound.
 */
export async function transcript(events: AsyncIterable<GantryEvent>): Promise<Transcript> {
  const items: Item[] = []
  const calls = new Map<string, Item>()
  let seen = 0
  let chars = 0
  let firstTs: number | null = null
  for await (const event of events) {
    if (event.event === 'usage') continue
    if (seen >= maxEvents || chars >= maxChars) return { html: items.map(render).join('\n'), cut: true }
    seen += 1
    firstTs ??= event.ts
    const at = `+${formatDuration(Math.max(0, event.ts - firstTs) * 1000)}`
    const item = placed(event, at, items, calls)
    chars += item === null ? 0 : item.grownBy
  }
  return { html: items.map(render).join('\n'), cut: false }
}

interface Item {
  readonly className: string
  readonly at: string
  html: string
  result: string
  /** How much the last event added. */
  grownBy: number
  /** Raw text so far, when the item is output of the process: chunks that follow are joined to it. */
  output: string | null
}

function placed(event: GantryEvent, at: string, items: Item[], calls: Map<string, Item>): Item | null {
  const last = items.at(-1)
  if (event.event === 'output' && last !== undefined && last.output !== null) {
    last.output += event.text
    const html = outputHtml(last.output, last.at)
    last.grownBy = Math.max(0, html.length - last.html.length)
    last.html = html
    return last
  }
  const call = event.event === 'tool_result' && event.id !== undefined ? calls.get(event.id) : undefined
  if (event.event === 'tool_result' && call !== undefined) {
    call.result = resultHtml(event)
    call.grownBy = call.result.length
    return call
  }
  const shown = eventHtml(event, at)
  // A log of a newer version may hold kinds of events that this one does not know.
  if (shown === null || shown === undefined) return null
  const output = event.event === 'output' ? event.text : null
  const item: Item = { ...shown, at, result: '', grownBy: shown.html.length, output }
  if (event.event === 'tool_call' && event.id !== undefined) calls.set(event.id, item)
  items.push(item)
  return item
}

function render({ className, html, result }: Item): string {
  return `<li class="${className}">${html}${result}</li>`
}
