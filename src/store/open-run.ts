import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { asObject, parseJson } from '../core/json-fields.ts'
import type { RunSummary } from '../core/summary.ts'
import type { TrialRecord } from '../core/trial.ts'
import { readTextIfExists } from '../io/directory.ts'
import { isDirectory } from '../io/path-kind.ts'
import type { Store, StoredRun } from './contract.ts'
import { readInputs } from './inputs.ts'
import { readManifest } from './manifest.ts'
import { readPlan } from './read-plan.ts'
import { readTrials } from './read-trials.ts'
import { parseRunId } from './run-id.ts'
import { checkpointPath, runFile, trialPath } from './run-paths.ts'

/** Opens a run for reading by its full id. Throws GantryError NOT_FOUND. `findRun` resolves a prefix to an id. */
export function openRun(store: Store, runId: string): StoredRun {
  const dir = join(store.runsDir, runId)
  if (parseRunId(runId) === null || !isDirectory(dir)) {
    throw new GantryError('NOT_FOUND', `there is no run ${JSON.stringify(runId)} in ${store.root}`, {
      hint: 'See "gantry runs list".',
    })
  }
  return storedRun(runId, dir)
}

/** Read access to an existing run directory. */
export function storedRun(id: string, dir: string): StoredRun {
  return {
    id,
    dir,
    manifest: () => readManifest(dir),
    plan: () => readPlan(dir),
    summary: () => readSummary(dir),
    trials: () => trialsOf(dir),
    trialDir: (trialId) => trialPath(dir, trialId),
    inputs: () => readInputs(dir),
    checkpointOf: (trialId, name) => readCheckpoint(dir, trialId, name),
  }
}

async function* trialsOf(dir: string): AsyncGenerator<TrialRecord> {
  yield* readTrials(dir)
}

function readSummary(dir: string): RunSummary | null {
  const path = runFile.summary(dir)
  const text = readTextIfExists(path)
  if (text === null) return null
  const value = asObject(parseJson(text))
  if (value !== null && 'verdict' in value && 'counts' in value) return value as unknown as RunSummary
  throw new GantryError('CORRUPT', `${path} is damaged`)
}

function readCheckpoint(dir: string, trialId: string, name: string): unknown {
  const text = readTextIfExists(checkpointPath(dir, trialId, name))
  return text === null ? undefined : parseJson(text)
}
