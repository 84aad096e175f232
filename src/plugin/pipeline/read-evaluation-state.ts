import { GantryError } from '../../core/error.ts'
import { nearest } from '../../core/nearest.ts'
import { readJsonIfExists } from '../../io/files.ts'
import type { Store } from '../../store/contract.ts'
import { listRuns } from '../../store/list-runs.ts'
import type { EvaluationState } from '../state/evaluation-state.ts'
import { type MigratedState, migrateState } from '../state/migrate-state.ts'
import { type EvaluationFiles, evaluationFiles, isAnalysis, readWhole } from './evaluation-files.ts'

/** The state of an evaluation; null when it is missing or unreadable, so that a list can continue. */
export function readEvaluationState(runDir: string): EvaluationState | null {
  const { state } = evaluationFiles(runDir)
  try {
    const value = readJsonIfExists(state)
    return value === undefined ? null : migrateState(value, state).state
  } catch (error) {
    if (error instanceof GantryError) return null
    throw error
  }
}

/** The state of a run to resume. Throws GantryError when it is missing, or belongs to another run or plugin. */
export function readStateOf(files: EvaluationFiles, pluginName: string | undefined): MigratedState {
  const { state: path, runId } = files
  const raw = readJsonIfExists(path)
  if (raw === undefined)
    throw new GantryError('NOT_FOUND', `run ${runId} is not a plugin evaluation: it has no state.json`, {
      hint: 'See "gantry plugin list".',
    })
  const migrated = migrateState(raw, path)
  const { run_id: id, plugin_name: name, stage, undoing } = migrated.state
  if (id !== runId)
    throw new GantryError('INVALID_FILE', `${path} is the state of run ${id}`, {
      hint: 'Restore the state file of this run, or start a new run with gantry plugin run.',
      at: { file: path },
    })
  if (pluginName !== undefined && pluginName !== name)
    throw new GantryError('USAGE', `run ${runId} is of the plugin '${name}', not of '${pluginName}'`, {
      hint: 'See "gantry plugin list" for the runs of each plugin.',
    })
  if (stage !== 'pending' && undoing === null) refuseOther(name, files)
  return migrated
}

function refuseOther(name: string, files: EvaluationFiles): void {
  const analysis = readWhole(files.analysis)
  if (!isAnalysis(analysis) || analysis.plugin_name === name) return
  const { plugin_name: analysed } = analysis
  throw new GantryError(
    'INVALID_FILE',
    `${files.state} is of the plugin '${name}', the run of '${analysed}'`,
    {
      hint: 'Restore the state file of this run, or start a new run with gantry plugin run.',
      at: { file: files.state },
    },
  )
}

/** The id of the latest evaluation of a plugin, by the plugin's name. */
export async function latestRunOf(store: Store, pluginName: string): Promise<string> {
  const { runs } = await listRuns(store, { kind: 'plugin' })
  const names = new Set<string>()
  for (const { id, dir } of runs) {
    const name = readEvaluationState(dir)?.plugin_name
    if (name === pluginName) return id
    if (name !== undefined) names.add(name)
  }
  const close = nearest(pluginName, [...names])
  throw new GantryError(
    'NOT_FOUND',
    `there is no evaluation of the plugin '${pluginName}' in ${store.root}`,
    {
      hint: close === undefined ? 'See "gantry plugin list".' : `Did you mean '${close}'?`,
    },
  )
}
