import { join } from 'node:path'
import { appendRotating } from '../../io/rotating-log.ts'
import type { TraceRecord } from './trace-record.ts'

const keptLogs = 3
const bytesPerMb = 1024 * 1024
/** A limit of nothing would move the log away with every line. */
const minBytes = 4 * 1024

export interface TraceAppend {
  /** The state directory, `.harness` unless the settings say otherwise. */
  readonly dir: string
  readonly record: TraceRecord
  readonly maxLogSizeMb: number
}

/** Adds one line to the trace. A log that would pass the limit becomes `trace-log.1.jsonl`; three such are kept. */
export function appendTrace({ dir, record, maxLogSizeMb }: TraceAppend): void {
  appendRotating(
    {
      path: traceLogPath(dir),
      olderPath: (number) => olderTracePath(dir, number),
      keep: keptLogs,
      maxBytes: Math.max(minBytes, maxLogSizeMb * bytesPerMb),
    },
    `${JSON.stringify(record)}\n`,
  )
}

function traceLogPath(dir: string): string {
  return join(dir, 'trace-log.jsonl')
}

/** Every file of a trace, oldest first; some may not be there. */
export function traceLogPaths(dir: string): readonly string[] {
  const older = Array.from({ length: keptLogs }, (_, index) => olderTracePath(dir, keptLogs - index))
  return [...older, traceLogPath(dir)]
}

function olderTracePath(dir: string, number: number): string {
  return join(dir, `trace-log.${number}.jsonl`)
}
