import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import type { TrialRecord } from '../core/trial.ts'
import { type AppendLog, openAppendLog } from '../io/append-log.ts'
import { makeDirectories, makeDirectory } from '../io/directory.ts'
import { fileOutput } from '../io/file-output.ts'
import { writeFileAtomic } from '../io/files.ts'
import { isFile } from '../io/path-kind.ts'
import type { LiveRun, PlanToStore, RunOutcome, Store, TrialRow } from './contract.ts'
import { createTotals } from './create-totals.ts'
import { freezeInput } from './inputs.ts'
import { changeManifest, updateManifest } from './manifest.ts'
import { storedRun } from './open-run.ts'
import { countPlanned } from './read-plan.ts'
import { discardedLine, readTrial } from './read-trials.ts'
import { removeAside } from './remove-run.ts'
import { appendToResultsLog, type RunLine, runLine } from './results-log.ts'
import { checkpointPath, requireName, resultPath, runFile, trialPath } from './run-paths.ts'
import type { RunSums } from './run-row.ts'
import { serializeTrialRecord, trialRow } from './trial-record.ts'

export interface LiveRunOptions {
  readonly store: Store
  readonly id: string
  readonly dir: string
  /** Trials finished before this process opened the run, and those of them missing in the shared log. */
  readonly earlier: readonly TrialRow[]
  readonly unpublished: readonly TrialRow[]
  readonly onWarning: (message: string) => void
  readonly releaseLock: () => void
}

/** Write access to a run whose lock this process holds. */
export function liveRun(options: LiveRunOptions): LiveRun {
  const { store, id, dir } = options
  const startedMs = store.clock.now().getTime()
  const totals = createTotals(options.earlier)
  let planned: number | null = null
  const sums = (): RunSums => {
    planned ??= countPlanned(dir)
    return { totals, planned }
  }
  const publisher = startPublisher({ ...options, runId: id, sums })
  const trialLog = openAppendLog(runFile.trialLog(dir))
  const events = openAppendLog(runFile.events(dir))
  const references = new Set<string>()
  /** Returns false when the trial was not finished. */
  const forget = (trialId: string): boolean => {
    const earlier = isFile(resultPath(dir, trialId)) ? readTrial(dir, trialId, 'skip') : null
    if (earlier === null) return false
    totals.add(trialRow(id, earlier), -1)
    publisher.indexAll()
    return true
  }
  const close = (): void => {
    for (const log of [trialLog, events]) log.close()
    options.releaseLock()
  }
  return {
    ...storedRun(id, dir),
    finished: new Set(options.earlier.map((row) => row.trial_id)),
    change: (change) => void updateManifest(dir, (manifest) => changeManifest(manifest, change)),
    freeze: (name, content) => freezeInput(dir, name, content),
    writePlan: (plan) => {
      planned = writePlan(dir, plan)
    },
    openTrial: (trialId) => {
      const path = trialPath(dir, trialId)
      makeDirectory(path)
      return path
    },
    finishTrial: (record) => {
      forget(record.id)
      storeRecord(dir, trialLog, record)
      totals.add(trialRow(id, record))
      publisher.add(trialRow(id, record))
      if (record.cachedFrom !== null) references.add(record.cachedFrom)
    },
    discardTrial: (trialId) => {
      const wasFinished = forget(trialId)
      removeAside(trialPath(dir, trialId), dir)
      if (wasFinished) trialLog.append(discardedLine(trialId))
    },
    checkpoint: (trialId, name, value) =>
      writeFileAtomic(checkpointPath(dir, trialId, name), `${JSON.stringify(value)}\n`),
    appendEvent: (event) => events.append(`${JSON.stringify(event)}\n`),
    logPath: (name) => pathIn(runFile.logs(dir), 'log name', name),
    reportPath: (name) => pathIn(runFile.reports(dir), 'report name', name),
    end: async (end) => {
      try {
        const line = writeEnd({ store, dir, end, startedMs, sums: sums(), references })
        await publisher.finish(line)
      } finally {
        close()
      }
    },
    release: () => {
      publisher.stop()
      close()
    },
    discard: () => void removeAside(dir, store.runsDir),
  }
}

/** Writes the result before the log line. After a crash between them the trial is finished and only its line is missing. */
function storeRecord(dir: string, trialLog: AppendLog, record: TrialRecord): void {
  const line = serializeTrialRecord(record)
  writeFileAtomic(resultPath(dir, record.id), line)
  trialLog.append(line)
}

/** Trial by trial, because a plan may have a million, and one per line, so that its ids can be read like that. Returns their number. */
function writePlan(dir: string, { trials, ...rest }: PlanToStore): number {
  const output = fileOutput(runFile.plan(dir))
  try {
    output.write(`${JSON.stringify(rest).slice(0, -1)}${Object.keys(rest).length === 0 ? '' : ','}"trials":[`)
    let count = 0
    for (const trial of trials) {
      requireName('trial id', trial.id)
      output.write(`${count === 0 ? '' : ','}\n${JSON.stringify(trial)}`)
      count += 1
    }
    output.write('\n]}\n')
    output.close()
    return count
  } catch (error) {
    output.discard()
    throw error
  }
}

function pathIn(directory: string, what: string, name: string): string {
  makeDirectories(directory)
  return join(directory, requireName(what, name))
}

interface EndingRun {
  readonly store: Store
  readonly dir: string
  readonly end: RunOutcome
  /** When this process opened the run. */
  readonly startedMs: number
  readonly sums: RunSums
  /** Runs that cached records came from. */
  readonly references: Iterable<string>
}

/** Writes the summary before the manifest, so a manifest with an end always has its summary. */
function writeEnd({ store, dir, end, startedMs, sums, references }: EndingRun): RunLine {
  const endedAt = store.clock.now()
  if (end.summary !== undefined) writeFileAtomic(runFile.summary(dir), `${JSON.stringify(end.summary)}\n`)
  const costUsd = end.costUsd ?? end.summary?.costUsd
  const manifest = updateManifest(dir, (current) => ({
    ...changeManifest(changeManifest(current, end.change ?? {}), { refers_to: [...references] }),
    status: end.status,
    timestamp_end: endedAt.toISOString(),
    totals: {
      ...sums.totals.finish({
        planned: end.change?.details?.decided === true ? 0 : sums.planned,
        durationMs: (current.totals?.duration_ms ?? 0) + endedAt.getTime() - startedMs,
      }),
      ...(costUsd !== undefined && { cost_usd: costUsd }),
    },
  }))
  return runLine(manifest)
}

const batchMs = 1_000

interface Publishing extends Pick<LiveRunOptions, 'store' | 'earlier' | 'unpublished' | 'onWarning'> {
  readonly runId: string
  sums(): RunSums
}

/** Updates the shared `results.jsonl` and the index for one live run, in batches. */
function startPublisher({ store, runId, sums, earlier, unpublished, onWarning }: Publishing) {
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
      appendToResultsLog(store, unwritten)
      unwritten.length = 0
    })
  }
  const index = (): Promise<void> => {
    indexing = indexing.then(async () => {
      const { indexLiveRun } = await import('./index-live-run.ts')
      guarded('index.db', onWarning, () => {
        lastStamp = indexLiveRun({ store, runId, sums, added: unindexed, lastStamp })
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
    add: (row: TrialRow): void => {
      hasTrials = true
      unwritten.push(row)
      unindexed.push(row)
      schedule()
    },
    /** A trial was discarded. */
    indexAll: (): void => {
      lastStamp = null
    },
    /** Publishes the rest and the end of the run. */
    finish: async (line: RunLine): Promise<void> => {
      unwritten.push(line)
      publish()
      // The next reader of the index quickly adds a run without trials. Opening it here would take as long as the run.
      if (hasTrials) await index()
    },
    /** Publishes the rest without waiting for the index, for a run that is released without an end. */
    stop: publish,
  }
}

/** Both files can be rebuilt from the run directories, so a failure is only a warning. */
function guarded(file: string, onWarning: (message: string) => void, write: () => void): void {
  try {
    write()
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    onWarning(`${file} could not be updated (${error.message}). Run "gantry runs reindex" to fix it`)
  }
}
