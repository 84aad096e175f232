import type { Manifest, RunFlag, Store } from './contract.ts'
import { flagManifest, updateManifest } from './manifest.ts'
import { openRun } from './open-run.ts'

/** Sets or clears a flag of a live or ended run and returns its manifest. */
export function flagRun(store: Store, runId: string, flag: RunFlag, on: boolean, reason?: string): Manifest {
  const { dir } = openRun(store, runId)
  return updateManifest(dir, (manifest) => flagManifest(manifest, flag, on, reason))
}
