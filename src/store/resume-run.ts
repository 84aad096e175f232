import { GantryError } from '../core/error.ts'
import type { LiveRun, Store } from './contract.ts'
import { liveRun } from './live-run.ts'
import { openRun } from './open-run.ts'
import { repairTrialLog } from './repair-trial-log.ts'
import { publishedResults } from './results-log.ts'
import { lockRun } from './run-lock.ts'
import { readTrialRows } from './run-row.ts'
import { updateManifest } from './update-manifest.ts'

export interface ResumeOptions {
  readonly onWarning?: (message: string) => void
}

/**
 * Takes a run up again, killed or ended. Its `finished` are the trials with a whole result on disk, whatever the log says.
 * Throws GantryError LOCKED naming the process that works on it, NOT_FOUND when there is no such run.
 */
export function resumeRun(store: Store, runId: string, options: ResumeOptions = {}): LiveRun {
  const { dir } = openRun(store, runId)
  const lock = lockRun(dir)
  if (lock.kind === 'busy') {
    throw new GantryError('LOCKED', `process ${lock.pid ?? 'unknown'} is working on run ${runId}`, {
      hint: 'Wait until it is done, or end that process.',
    })
  }
  // Cleaned away in this very moment: opening it again tells so.
  if (lock.kind === 'gone') return resumeRun(store, runId, options)
  try {
    updateManifest(dir, (manifest) => ({
      ...manifest,
      status: 'running',
      timestamp_end: null,
      resumed_at: [...manifest.resumed_at, store.clock.now().toISOString()],
    }))
    repairTrialLog(dir)
    const earlier = readTrialRows(runId, dir)
    const published = publishedResults(store).get(runId)?.trialIds
    return liveRun({
      store,
      id: runId,
      dir,
      resumed: true,
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
