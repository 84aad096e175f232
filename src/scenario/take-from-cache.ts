import type { TrialRecord } from '../core/trial.ts'
import { copyTree } from '../io/copy-tree.ts'
import { isDirectory, pathKind } from '../io/path-kind.ts'
import type { CachedRecord, LiveRun } from '../store/contract.ts'
import { writeEvaluation } from './artefacts.ts'
import type { PlannedTrial } from './plan.ts'
import { trialPlace } from './trial-place.ts'

/** The agent's own files stay with the run that made them: `cachedFrom` names it, and retention keeps it. */
const notCopied = new Set(['result.json', 'evaluation.md', 'fixture', 'home', 'tmp'])

/**
 * The stored record as a trial of this run, with the report and the logs where the run that made them still has them.
 */
export async function takeFromCache(
  hit: CachedRecord,
  planned: PlannedTrial,
  run: LiveRun,
): Promise<TrialRecord> {
  const dir = run.openTrial(planned.id)
  if (isDirectory(hit.record.dir))
    await copyTree(hit.record.dir, dir, { exclude: (path) => notCopied.has(path) })
  const record = { ...hit.record, id: planned.id, dir, cachedFrom: hit.runId }
  const place = { ...trialPlace(dir), fixture: trialPlace(hit.record.dir).fixture }
  writeEvaluation(record, place, (path) => pathKind(path) !== null)
  return record
}
