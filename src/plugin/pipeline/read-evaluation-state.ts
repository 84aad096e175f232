import { join } from 'node:path'
import { GantryError, nullAfterError } from '../../core/error.ts'
import { didYouMean } from '../../core/nearest.ts'
import { directoriesIn } from '../../io/directory.ts'
import { readJsonIfExists } from '../../io/files.ts'
import { isFile } from '../../io/path-kind.ts'
import type { Store } from '../../store/contract.ts'
import { listRuns } from '../../store/list-runs.ts'
import { type EvaluationState, type MigratedState, migrateState } from '../state/evaluation-state.ts'
import { type EvaluationFiles, evaluationFiles, isAnalysis, readWhole } from './evaluation-files.ts'

/** The state of an evaluation; null when it is missing or unreadable, so that a list can continue. */
export function readEvaluationState(runDir: string): EvaluationState | null {
  const { state } = evaluationFiles(runDir)
  return nullAfterError(() => {
    const value = readJsonIfExists(state)
    return value === undefined ? null : migrateState(value, state).state
  })
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
      hint: restore,
      at: { file: path },
    })
  if (pluginName !== undefined && pluginName !== name)
    throw new GantryError('USAGE', `run ${runId} is of the plugin '${name}', not of '${pluginName}'`, {
      hint: 'See "gantry plugin list" for the runs of each plugin.',
    })
  if (stage !== 'pending' && undoing === null) refuseOther(name, files)
  return migrated
}

const restore = 'Restore the state file of this run, or start a new run with gantry plugin run.'

function refuseOther(name: string, files: EvaluationFiles): void {
  const analysis = readWhole(files.analysis)
  if (!isAnalysis(analysis) || analysis.plugin_name === name) return
  const { plugin_name: analysed } = analysis
  const message = `${files.state} belongs to the plugin '${name}', but this run evaluates '${analysed}'`
  throw new GantryError('INVALID_FILE', message, { hint: restore, at: { file: files.state } })
}

/** The id of the latest evaluation of a plugin, by the plugin's name: in the store, else in `results/` of cc-plugin-eval. */
export async function latestRunOf(store: Store, pluginName: string, cwd: string): Promise<string> {
  const { runs } = await listRuns(store, { kind: 'plugin' })
  const names = new Set<string>()
  for (const { id, dir } of runs) {
    const name = readEvaluationState(dir)?.plugin_name
    if (name === pluginName) return id
    if (name !== undefined) names.add(name)
  }
  const [older] = olderRunsOf(cwd, pluginName)
  if (older !== undefined) return older
  const message = `there is no evaluation of the plugin '${pluginName}' in ${store.root}`
  throw new GantryError('NOT_FOUND', message, {
    hint: didYouMean(pluginName, names, 'See "gantry plugin list".'),
  })
}

/** Ids of the runs that cc-plugin-eval left in `results/<plugin>/` of a directory, the newest first. */
export function olderRunsOf(cwd: string, pluginName: string): readonly string[] {
  const results = join(cwd, 'results', pluginName)
  return directoriesIn(results)
    .filter((id) => olderRunId.test(id) && isFile(join(results, id, 'state.json')))
    .toSorted()
    .reverse()
}

/** Of cc-plugin-eval: local time and random characters. */
export const olderRunId = /^\d{8}-\d{6}-[\w-]{4,8}$/
