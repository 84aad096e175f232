import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { readTrace } from '../src/guard/trace/read-trace.ts'
import type { TraceRecord } from '../src/guard-engine/views/trace-log.ts'
import { appendOutput } from '../src/io/file-output.ts'
import { readJsonlBatches } from '../src/io/jsonl.ts'
import { type Figure, inMemory, inTemporary, timed } from './figure.ts'

const sizeMb = Number(process.env.GANTRY_BENCH_TRACE_MB ?? 128)
const rounds = 3
const atMost = 2
const mb = 1024 * 1024

/**
 * The whole report over a large trace against reading its lines and `JSON.parse` alone. The baseline is the faster of
 * two ways to do that, ours and Node's own line reader. `grownMb` is the growth of the process's memory.
 */
export function guardTrace(): Promise<Figure> {
  return inTemporary(async (directory) => {
    const path = join(directory, 'trace-log.jsonl')
    const lines = write(path)
    const oursMs: number[] = []
    const theirsMs: number[] = []
    let peakMb = 0
    for (let round = 0; round < rounds; round += 1) {
      theirsMs.push(await timed(() => parseBatches(path, lines)))
      if (round === 0) theirsMs.push(await timed(() => parseLines(path, lines)))
      const watch = setInterval(() => {
        peakMb = Math.max(peakMb, process.memoryUsage().rss / mb)
      }, 50)
      oursMs.push(await timed(() => report(path, lines)))
      clearInterval(watch)
    }
    const ours = Math.min(...oursMs)
    const baseline = Math.min(...theirsMs)
    return {
      name: `guard trace over a log of ${sizeMb} MB`,
      limit: `at most ${atMost}x reading lines and JSON.parse alone`,
      ratio: ours / baseline,
      ok: ours / baseline <= atMost,
      detail: { oursMs: ours, baselineMs: baseline, lines, peakMb },
    }
  }, inMemory)
}

async function report(path: string, lines: number): Promise<void> {
  const { total } = await readTrace({ files: [path], editThreshold: 5 })
  if (total !== lines) throw new Error(`wrote ${lines} calls and reported ${total}`)
}

async function parseBatches(path: string, lines: number): Promise<void> {
  let count = 0
  for await (const batch of readJsonlBatches<TraceRecord>(path)) count += batch.length
  if (count !== lines) throw new Error(`wrote ${lines} lines and read ${count}`)
}

async function parseLines(path: string, lines: number): Promise<void> {
  let count = 0
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const record: TraceRecord = JSON.parse(line)
    if (record.tool !== '') count += 1
  }
  if (count !== lines) throw new Error(`wrote ${lines} lines and read ${count}`)
}

function write(path: string): number {
  const sink = appendOutput(path)
  let bytes = 0
  let lines = 0
  while (bytes < sizeMb * mb) {
    let block = ''
    for (let index = 0; index < 5_000; index += 1, lines += 1)
      block += `${JSON.stringify(sampleRecord(lines))}\n`
    sink.write(block)
    bytes += block.length
  }
  return lines
}

/** Half reads and searches, a quarter edits over a thousand files, a quarter commands of which every third is new. */
function sampleRecord(index: number): TraceRecord {
  const file = `/repo/src/part-${index % 97}/file-${(index * 31) % 1_000}.ts`
  const base = {
    timestamp: new Date(1_760_000_000_000 + index * 700).toISOString(),
    session: '0b9f1c1e-7d2a-4f0e-9a52-5f3d1f8a2c11',
    signature: ((index * 2_654_435_761) % 2 ** 32).toString(16).padStart(16, '0'),
    duration_ms: (index * 37) % 4_000,
  }
  switch (index % 4) {
    case 0:
      return { ...base, tool: 'Read', input: { file_path: file, limit: 200 }, result: 'success' }
    case 1:
      return {
        ...base,
        tool: 'Edit',
        input: {
          file_path: file,
          old_string: `const a = ${index}\n`.repeat(4),
          new_string: 'const b = 2\n'.repeat(6),
        },
        result: 'success',
      }
    case 2:
      return {
        ...base,
        tool: 'Grep',
        input: { pattern: `name${index % 50}`, path: '/repo/src' },
        result: 'success',
      }
    default:
      return {
        ...base,
        tool: 'Bash',
        input: { command: commandOf(index), description: 'Run the checks again' },
        result: index % 7 === 0 ? 'failure' : 'success',
        exit_code: index % 7 === 0 ? 1 : 0,
      }
  }
}

function commandOf(index: number): string {
  if (index % 3 === 0) return `node scripts/step-${index}.js --page ${index} | head -20`
  return index % 2 === 0 ? 'git status --short' : 'npm test -- --run src'
}
