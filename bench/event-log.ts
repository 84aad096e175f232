import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GantryEvent } from '../src/core/event.ts'
import { openJsonl, readJsonlBatches } from '../src/io/jsonl.ts'
import { type Figure, inTemporary, timed } from './figure.ts'

const eventCount = 1_000_000
const atMost = 2

/** Writes a large event log and reads it back, against only parsing lines that are already in memory. */
export function eventLog(): Promise<Figure> {
  return inTemporary(async (directory) => {
    const path = join(directory, 'events.jsonl')
    const writeMs = await timed(() => write(path))
    const pairs = []
    for (let round = 0; round < 3; round++)
      pairs.push({ readMs: await timed(() => readAll(path)), parseMs: await parseAll(path) })
    const readMs = Math.min(...pairs.map((pair) => pair.readMs))
    const parseMs = Math.min(...pairs.map((pair) => pair.parseMs))
    const ratio = readMs / parseMs
    return {
      name: 'read an event log of 1,000,000 events',
      limit: `at most ${atMost}x a bare JSON.parse of its lines`,
      ratio,
      ok: ratio <= atMost,
      detail: { writeMs, oursMs: readMs, baselineMs: parseMs },
    }
  })
}

async function write(path: string): Promise<void> {
  const log = openJsonl(path)
  for (let index = 0; index < eventCount; index++) log.append(sampleEvent(index))
  log.close()
}

async function readAll(path: string): Promise<void> {
  let count = 0
  for await (const batch of readJsonlBatches<GantryEvent>(path)) count += batch.length
  if (count !== eventCount) throw new Error(`wrote ${eventCount} events and read ${count}`)
}

/** In blocks, like the reader, so that both create the same amount of garbage. */
async function parseAll(path: string): Promise<number> {
  const lines = readFileSync(path, 'utf8').split('\n')
  lines.pop()
  return await timed(async () => {
    let count = 0
    for (let start = 0; start < lines.length; start += 1000) {
      const values = lines.slice(start, start + 1000).map((line): GantryEvent => JSON.parse(line))
      count += values.length
    }
    if (count !== eventCount) throw new Error(`parsed ${count} of ${eventCount} lines`)
  })
}

function sampleEvent(index: number): GantryEvent {
  const ts = 1_760_000_000 + index / 1000
  const id = `call_${index - (index % 5)}`
  switch (index % 5) {
    case 0:
      return {
        ts,
        event: 'tool_call',
        id,
        tool: 'Bash',
        command: `mytool list --page ${index} --json | head -20`,
        input: { command: `mytool list --page ${index}` },
      }
    case 1:
      return {
        ts,
        event: 'tool_result',
        id,
        output: `row ${index}: “done”\n`.repeat(4),
        exit_code: 0,
        duration_secs: 0.21,
      }
    case 2:
      return {
        ts,
        event: 'usage',
        model: 'model-a',
        input_tokens: index,
        output_tokens: 220,
        cache_read_tokens: 18_000,
        cost_usd: 0.0042,
      }
    case 3:
      return {
        ts,
        event: 'message',
        role: 'assistant',
        text: `Step ${index} is finished; the list has the entries that were asked for.`,
      }
    default:
      return { ts, event: 'output', text: `progress ${index}\n`, stream: 'stdout' }
  }
}
