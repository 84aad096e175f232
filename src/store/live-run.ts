import { join } from 'node:path'
import type { TrialRecord } from '../core/trial.ts'
import { type AppendLog, openAppendLog } from '../io/append-log.ts'
import { makeDirectories, makeDirectory } from '../io/directory.ts'
import { writeFileAtomic } from '../io/files.ts'
import type { LiveRun, RunPlan, Store, TrialRow } from './contract.ts'
import { freezeInput } from './inputs.ts'
import { changeManifest } from './manifest.ts'
import { storedRun } from './open-run.ts'
import { startPublisher } from './publisher.ts'
import { discardedLine } from './read-trials.ts'
import { removeAside } from './remove-aside.ts'
import { checkpointPath, requireName, resultPath, runFile, trialPath } from './run-paths.ts'
import { serializeRecord } from './trial-record.ts'
import { trialRow } from './trial-row.ts'
import { updateManifest } from './update-manifest.ts'
import { writeEnd } from './write-end.ts'

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
