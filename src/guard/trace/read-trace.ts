import { GantryError } from '../../core/error.ts'
import { ledgerFiles } from '../../guard-engine/ledger/read-ledger.ts'
import { modifiedAtMs } from '../../io/directory.ts'
import { readJsonlBatches } from '../../io/jsonl.ts'
import { isFile } from '../../io/path-kind.ts'
import { foldTrace } from './fold-trace.ts'
import { openLedgerReader } from './read-ledger-line.ts'
import { readRecord, type TraceItem } from './read-record.ts'
import type { TraceReport } from './trace-report.ts'

export interface TraceRequest {
  /** In the order of time. */
  readonly files: readonly string[]
  readonly editThreshold: number
  /** Epoch ms; what is older, or tells no time, is left out. */
  readonly sinceMs?: number
}

/**
 * Reads a trace log, ours or the original's, or a ledger of the guard, and sums it up. Any length: one pass, and memory
 * that does not grow. A line that is no record is counted and passed over. Throws GantryError NOT_FOUND.
 */
export async function readTrace({ files, editThreshold, sinceMs }: TraceRequest): Promise<TraceReport> {
  const fold = foldTrace({ editThreshold })
  const ledger = openLedgerReader()
  let brokenLines = 0
  let leftOut = 0
  let ledgerLines = 0
  let traceLines = 0

  function add(item: TraceItem): void {
    if (sinceMs !== undefined && (item.atMs === null || item.atMs < sinceMs)) leftOut += 1
    else fold.add(item)
  }

  for (const file of files) {
    if (!isFile(file)) throw notFound(file)
    const broken = (): void => {
      brokenLines += 1
    }
    for await (const batch of readJsonlBatches<unknown>(file, broken)) {
      for (const value of batch) {
        const record = readRecord(value)
        if (record !== null) {
          traceLines += 1
          add(record)
          continue
        }
        const items = ledger.read(value)
        if (items === null) brokenLines += 1
        else {
          ledgerLines += 1
          for (const item of items) add(item)
        }
      }
    }
  }
  return fold.finish({
    files,
    kind: ledgerLines > traceLines ? 'ledger' : 'trace',
    broken_lines: brokenLines,
    left_out: leftOut,
  })
}

function notFound(file: string): GantryError {
  return new GantryError('NOT_FOUND', `there is no trace at ${file}`, {
    hint: 'Name the file, or run a guarded agent in this project first: trace_logging in harness.json must be on.',
  })
}

/** The ledger that was written last; null when the guard has seen no session of the project. `root` is the real path. */
export function newestSession(guardHome: string, root: string): string | null {
  const [, ...sessions] = ledgerFiles(guardHome, root)
  const dated = sessions.map((path) => ({ path, at: modifiedAtMs(path) ?? 0 }))
  return dated.sort((one, other) => other.at - one.at)[0]?.path ?? null
}
