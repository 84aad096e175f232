import { GantryError } from '../core/error.ts'
import type { Store, TrialRow } from './contract.ts'
import { appendResults, type RunLine } from './results-log.ts'

const batchMs = 1_000

/** Keeps the shared `results.jsonl` and the index up to date for one live run, in batches. */
export interface Publisher {
  add(row: TrialRow): void
  /** False when the trial was not finished. */
  drop(trialId: string): boolean
  /** Every finished trial of the run. */
  rows(): IterableIterator<TrialRow>
  /** Publishes what is left and the end of the run. */
  finish(line: RunLine): Promise<void>
  /** Publishes what is left without waiting for the index; for a run that is only let go. */
  stop(): void
}

export interface Publishing {
  readonly store: Store
  readonly runId: string
  /** Finished before this process took the run up. */
  readonly earlier: readonly TrialRow[]
  /** Those of them that `results.jsonl` lacks. */
  readonly unpublished: readonly TrialRow[]
  readonly onWarning: (message: string) => void
}

export function startPublisher({ store, runId, earlier, unpublished, onWarning }: Publishing): Publisher {
  const rows = new Map(earlier.map((row) => [row.trial_id, row]))
  const unwritten: (TrialRow | RunLine)[] = [...unpublished]
  let unindexed: TrialRow[] = []
  let lastStamp: string | null = null
  let hasTrials = earlier.length > 0
  let timer: NodeJS.Timeout | undefined
  let indexing: Promise<void> = Promise.resolve()

  const publish = (): void => {
    clearTimeout(timer)
    timer = undefined
    guarded('results.jsonl', onWarning, () => {
      appendResults(store, unwritten)
      unwritten.length = 0
    })
  }
  const index = (): Promise<void> => {
    indexing = indexing.then(async () => {
      const { indexLiveRun } = await import('./index-live-run.ts')
      guarded('index.db', onWarning, () => {
        lastStamp = indexLiveRun({ store, runId, rows, added: unindexed, lastStamp })
        unindexed = []
      })
    })
    return indexing
  }
  const schedule = (): void => {
    timer ??= setTimeout(() => {
      publish()
      void index()
    }, batchMs).unref()
  }
  return {
    add: (row) => {
      hasTrials = true
      rows.set(row.trial_id, row)
      unwritten.push(row)
      unindexed.push(row)
      schedule()
    },
    drop: (trialId) => {
      lastStamp = null
      return rows.delete(trialId)
    },
    rows: () => rows.values(),
    finish: async (line) => {
      unwritten.push(line)
      publish()
      // A run without trials is read again in no time by whoever opens the index; to open it here would take as long as the run.
      if (hasTrials) await index()
    },
    stop: publish,
  }
}

/** Both files can be made again from the run directories, so a run never fails for their sake; but it says so. */
function guarded(file: string, onWarning: (message: string) => void, write: () => void): void {
  try {
    write()
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    onWarning(
      `${file} could not be brought up to date (${error.message}); "gantry runs reindex" makes up for it`,
    )
  }
}
