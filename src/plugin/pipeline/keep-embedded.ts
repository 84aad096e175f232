import { join } from 'node:path'
import { writeJsonAtomic } from '../../io/files.ts'
import { isFile } from '../../io/path-kind.ts'
import { type EvaluationState, rewoundTo } from '../state/evaluation-state.ts'
import type { MigratedState } from '../state/migrate-state.ts'
import { isAnalysis, isScenariosFile } from './artefact-shapes.ts'
import type { EvaluationFiles } from './evaluation-files.ts'

/**
 * What an older version kept inside its state goes into the files it lies in today; what is there already stays, and so does the
 * older state itself, under another name. Returns where the run stands then: what is not in the form of today is made anew.
 */
export function keepEmbedded(
  files: EvaluationFiles,
  { state, embedded }: MigratedState,
  raw: unknown,
  now: Date,
): EvaluationState {
  const older = join(files.dir, 'state.older.json')
  if (!isFile(older)) writeJsonAtomic(older, raw)
  const { analysis, scenarios } = embedded
  if (isAnalysis(analysis) && !isFile(files.analysis)) writeJsonAtomic(files.analysis, analysis)
  const file = { schema_version: 1, plugin_name: state.plugin_name, scenarios }
  if (isScenariosFile(file) && !isFile(files.scenarios)) writeJsonAtomic(files.scenarios, file)
  if (state.stage === 'pending') return state
  if (!isFile(files.analysis)) return rewoundTo(state, 'analysis', state.until, now)
  if (state.stage === 'analysis' || isFile(files.scenarios)) return state
  return rewoundTo(state, 'generation', state.until, now)
}
