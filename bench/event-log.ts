import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GantryEvent } from '../src/core/event.ts'
import { openJsonl, readJsonlBatches } from '../src/io/jsonl.ts'

const eventCount = 1_000_000
const ratioMax = 2

export interface EventLogFigure {
  readonly name: string
  readonly limit: string
  readonly ratio: number
  readonly ok: boolean
  readonly detail: Record<string, number>
}

/** Writes a large event log and reads it back, against the bare cost of parsing lines that are in memory already. */
export async function eventLog(): Promise<EventLogFigure> {
  const directory = mkdtempSync(join(tmpdir(), 'gantry-bench-'))
  try {
    const path = join(directory, 'events.jsonl')
    const writeMs = await timed(() => write(path))
    const pairs = []
    for (let round = 0; round < 3; round++)
      pairs.push({ readMs: await timed(() => readAll(path)), parseMs: await parseAll(path) })
    const readMs = Math.min(...pairs.map((pair) => pair.readMs))
    const parseMs = Math.min(...pairs.map((pair) => pair.parseMs))
    const ratio = readMs / parseMs
    return {
      name: 'event log: read back against bare JSON.parse',
      limit: `at most ${ratioMax.toFixed(1)}x`,
      ratio,
      ok: ratio <= ratioMax,
      detail: { events: eventCount, writeMs, readMs, parseMs },
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
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

/** In blocks, as the reader does it, so that both leave the same amount of garbage alive. */
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

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
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
