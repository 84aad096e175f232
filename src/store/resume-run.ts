import { GantryError } from '../core/error.ts'
import { openAppendLog } from '../io/append-log.ts'
import { moveIfExists, namesIn, readTextIfExists } from '../io/directory.ts'
import { openLines } from '../io/line-file.ts'
import type { LiveRun, Store } from './contract.ts'
import { createTotals } from './create-totals.ts'
import { liveRun } from './live-run.ts'
import { updateManifest } from './manifest.ts'
import { openRun } from './open-run.ts'
import { discardedLine, trialSpans } from './read-trials.ts'
import { publishedResults } from './results-log.ts'
import { lockRun } from './run-lock.ts'
import { isSafeName, resultPath, runFile } from './run-paths.ts'
import { readTrialRows, totalsSoFar } from './run-row.ts'
import { parseTrialRecord, recordHeadBytes, serializeTrialRecord } from './trial-record.ts'

export interface ResumeRunOptions {
  readonly onWarning?: (message: string) => void
}

/**
 * Resumes a killed or ended run. `finished` are the trials with a complete result on disk, regardless of the log.
 * Throws GantryError LOCKED with the process that works on it, NOT_FOUND when there is no such run.
 */
export function resumeRun(store: Store, runId: string, options: ResumeRunOptions = {}): LiveRun {
  const { dir } = openRun(store, runId)
  const lock = lockRun(dir)
  if (lock.kind === 'busy') {
    throw new GantryError('LOCKED', `process ${lock.pid ?? 'unknown'} is working on run ${runId}`, {
      hint: 'Wait until it is done, or stop that process.',
    })
  }
  // Deleted at this moment: opening it again throws NOT_FOUND.
  if (lock.kind === 'gone') return resumeRun(store, runId, options)
  try {
    updateManifest(dir, (manifest) => ({
      ...manifest,
      // The time of a process that was killed is part of what the run is worth.
      totals:
        manifest.status === 'running'
          ? totalsSoFar(store, dir, manifest, false, { totals: createTotals(), planned: 0 })
          : manifest.totals,
      status: 'running',
      timestamp_end: null,
      resumed_at: [...manifest.resumed_at, store.clock.now().toISOString()],
    }))
    repairTrialLog(dir)
    const earlier = [...readTrialRows(runId, dir)]
    const published = publishedResults(store).get(runId)?.trialIds
    return liveRun({
      store,
      id: runId,
      dir,
      earlier,
      unpublished: earlier.filter((row) => published?.has(row.trial_id) !== true),
      onWarning: options.onWarning ?? (() => {}),
      releaseLock: lock.release,
    })
  } catch (error) {
    lock.release()
    throw error
  }
}

/**
 * Updates the log of a run from the results on disk, which are the truth: adds missing lines and discards lines without a complete
 * result. A damaged result is moved aside, so its trial counts as not finished.
 */
function repairTrialLog(runDir: string): void {
  const repairs = findRepairs(runDir)
  if (repairs.length === 0) return
  const log = openAppendLog(runFile.trialLog(runDir))
  try {
    log.append(repairs.join(''))
  } finally {
    log.close()
  }
}

function findRepairs(runDir: string): string[] {
  const log = openLines(runFile.trialLog(runDir), recordHeadBytes)
  try {
    const spans = log === null ? new Map() : trialSpans(log)
    const logged = (trialId: string): string | null => {
      const span = spans.get(trialId)
      return log === null || span === undefined ? null : `${log.read(span)}\n`
    }
    const repairs: string[] = []
    for (const trialId of namesIn(runFile.trials(runDir)).sort()) {
      if (!isSafeName(trialId)) continue
      const line = storedLine(runDir, trialId)
      if (line === null) continue
      if (line !== logged(trialId)) repairs.push(line)
      spans.delete(trialId)
    }
    return [...repairs, ...Array.from(spans.keys(), discardedLine)]
  } finally {
    log?.close()
  }
}

function storedLine(runDir: string, trialId: string): string | null {
  const path = resultPath(runDir, trialId)
  const text = readTextIfExists(path)
  if (text === null) return null
  const record = parseTrialRecord(text, trialId)
  if (record !== null) return serializeTrialRecord(record)
  moveIfExists(path, `${path}.damaged`)
  return null
}
