import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import type { Store } from '../store/contract.ts'
import { flagRun } from '../store/flag-run.ts'
import { readManifestState } from '../store/read-manifest.ts'
import { runIds } from '../store/run-ids.ts'
import type { StuckContext } from './reports/read-stuck-report.ts'

/** What a task was stuck on need not be kept any longer: its runs are cleaned like all others. */
export function resolveStuckRuns(store: Store, repository: string, stuck: StuckContext): void {
  const tasks = runIds(store).flatMap(({ id }) => {
    const state = readManifestState(join(store.runsDir, id))
    if (state.kind !== 'whole') return []
    const { kind, flags, details, refers_to } = state.manifest
    const isOfTask =
      kind === 'task' &&
      flags.stuck &&
      details.repository === repository &&
      refers_to.some((run) => stuck.runIds.includes(run))
    return isOfTask ? [id] : []
  })
  for (const id of [...tasks, ...stuck.runIds]) setStuck(store, id, false)
}

/** A run that was cleaned away by hand is no reason to fail. */
export function setStuck(store: Store, runId: string, isStuck: boolean, reason?: string): void {
  try {
    flagRun(store, runId, 'stuck', isStuck, reason)
  } catch (error) {
    if (!(error instanceof GantryError) || error.code !== 'NOT_FOUND') throw error
  }
}
