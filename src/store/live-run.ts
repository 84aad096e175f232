import { join } from 'node:path'
import type { TrialRecord } from '../core/trial.ts'
import { type AppendLog, openAppendLog } from '../io/append-log.ts'
import { makeDirectories, makeDirectory } from '../io/directory.ts'
import { writeFileAtomic } from '../io/files.ts'
import type { LiveRun, RunOutcome, RunPlan, Store, TrialRow } from './contract.ts'
import { freezeInput } from './inputs.ts'
import { changeManifest, updateManifest } from './manifest.ts'
import { storedRun } from './open-run.ts'
import { startPublisher } from './publisher.ts'
import { plannedIds } from './read-plan.ts'
import { discardedLine } from './read-trials.ts'
import { removeAside } from './remove-run.ts'
import { type RunLine, runLine } from './results-log.ts'
import { checkpointPath, requireName, resultPath, runFile, trialPath } from './run-paths.ts'
import { runTotals } from './run-totals.ts'
import { serializeRecord, trialRow } from './trial-record.ts'

export interface LiveRunOptions {
  readonly store: Store
  readonly id: string
  readonly dir: string
  readonly resumed: boolean
  /** Trials finished before this process took the run up, and those of them the shared log lacks. */
  readonly earlier: readonly TrialRow[]
  readonly unpublished: readonly TrialRow[]
  readonly onWarning: (message: string) => void
  readonly releaseLock: () => void
}

/** The writing half of a run whose lock this process holds. */
export function liveRun(options: LiveRunOptions): LiveRun {
  const { store, id, dir, resumed } = options
  const startedMs = store.clock.now().getTime()
  const publisher = startPublisher({ ...options, runId: id })
  const trialLog = openAppendLog(runFile.trialLog(dir))
  const events = openAppendLog(runFile.events(dir))
  const references = new Set<string>()
  /** In a new run only these can have left anything behind. */
  const opened = new Set<string>()
  const close = (): void => {
    for (const log of [trialLog, events]) log.close()
    options.releaseLock()
  }
  return {
    ...storedRun(id, dir),
    finished: new Set(options.earlier.map((row) => row.trial_id)),
    change: (change) => void updateManifest(dir, (manifest) => changeManifest(manifest, change)),
    freeze: (name, content) => freezeInput(dir, name, content),
    writePlan: (plan) => writePlan(dir, plan),
    openTrial: (trialId) => {
      const path = trialPath(dir, trialId)
      makeDirectory(path)
      opened.add(trialId)
      return path
    },
    finishTrial: (record) => {
      storeRecord(dir, trialLog, record)
      opened.add(record.id)
      publisher.add(trialRow(id, record))
      if (record.cachedFrom !== null) references.add(record.cachedFrom)
    },
    discardTrial: (trialId) => {
      const path = trialPath(dir, trialId)
      if (!resumed && !opened.has(trialId)) return
      removeAside(path, dir)
      if (publisher.drop(trialId)) trialLog.append(discardedLine(trialId))
    },
    checkpoint: (trialId, name, value) =>
      writeFileAtomic(checkpointPath(dir, trialId, name), `${JSON.stringify(value)}\n`),
    appendEvent: (event) => events.append(`${JSON.stringify(event)}\n`),
    logPath: (name) => pathIn(runFile.logs(dir), 'log name', name),
    reportPath: (name) => pathIn(runFile.reports(dir), 'report name', name),
    end: async (end) => {
      try {
        const line = writeEnd({ store, dir, end, startedMs, rows: publisher.rows(), references })
        await publisher.finish(line)
      } finally {
        close()
      }
    },
    release: () => {
      publisher.stop()
      close()
    },
  }
}

/** The result first, the log line after: whoever dies between the two has a finished trial that the log lacks. */
function storeRecord(dir: string, trialLog: AppendLog, record: TrialRecord): void {
  const line = serializeRecord(record)
  writeFileAtomic(resultPath(dir, record.id), line)
  trialLog.append(line)
}

function writePlan(dir: string, plan: RunPlan): void {
  for (const { id } of plan.trials) requireName('trial id', id)
  writeFileAtomic(runFile.plan(dir), `${JSON.stringify(plan)}\n`)
}

function pathIn(directory: string, what: string, name: string): string {
  makeDirectories(directory)
  return join(directory, requireName(what, name))
}

interface EndingRun {
  readonly store: Store
  readonly dir: string
  readonly end: RunOutcome
  /** When this process took the run up. */
  readonly startedMs: number
  readonly rows: Iterable<TrialRow>
  /** Runs that cached records came from. */
  readonly references: Iterable<string>
}

/** Summary first, manifest after: a manifest that tells an end never lacks what belongs to it. */
function writeEnd({ store, dir, end, startedMs, rows, references }: EndingRun): RunLine {
  const endedAt = store.clock.now()
  if (end.summary !== undefined) writeFileAtomic(runFile.summary(dir), `${JSON.stringify(end.summary)}\n`)
  const manifest = updateManifest(dir, (current) => ({
    ...changeManifest(changeManifest(current, end.change ?? {}), { refers_to: [...references] }),
    status: end.status,
    timestamp_end: endedAt.toISOString(),
    totals: runTotals(rows, {
      planned: plannedIds(dir, 'skip').length,
      durationMs: (current.totals?.duration_ms ?? 0) + endedAt.getTime() - startedMs,
    }),
  }))
  return runLine(manifest)
}
