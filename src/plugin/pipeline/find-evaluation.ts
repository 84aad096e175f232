import { join, resolve } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { directoriesIn } from '../../io/directory.ts'
import { readJsonIfExists, removeTree, writeJsonAtomic } from '../../io/files.ts'
import { isFile } from '../../io/path-kind.ts'
import type { Store } from '../../store/contract.ts'
import { createRun } from '../../store/create-run.ts'
import { findRun } from '../../store/find-run.ts'
import { openRun } from '../../store/open-run.ts'
import { runFile } from '../../store/run-paths.ts'
import { type PluginConfig, pluginConfigSchema, pluginFileSchema } from '../config/keys/schema.ts'
import { loadConfigWithOverrides } from '../config/load-config.ts'
import { note } from '../contract.ts'
import { migrateState } from '../state/evaluation-state.ts'
import { evaluationFiles, readScenarios } from './evaluation-files.ts'
import type { EvaluationContext } from './evaluation-work.ts'
import { olderRunId, readEvaluationState } from './read-evaluation-state.ts'
import { toStoredRequest } from './stored-request.ts'
import { unpackOlder } from './unpack-older.ts'

type Place = Pick<EvaluationContext, 'store' | 'cwd' | 'onStep'>

/**
 * The id of an evaluation: as `findRun`, and for an id of cc-plugin-eval also that of a run in its `results/<plugin>/<id>/`, which is
 * copied into the store first.
 */
export async function findEvaluation(wanted: string, place: Place): Promise<string> {
  const { store, cwd } = place
  if (olderRunId.test(wanted) && !isFile(runFile.manifest(join(store.runsDir, wanted)))) {
    const results = resolve(cwd, 'results')
    const state = [
      join(store.runsDir, wanted),
      ...directoriesIn(results).map((plugin) => join(results, plugin, wanted)),
    ]
      .map((dir) => join(dir, 'state.json'))
      .find(isFile)
    if (state !== undefined) await adopt(wanted, state, place)
  }
  return findRun(store, wanted, { kind: 'plugin' })
}

async function adopt(id: string, file: string, place: Place): Promise<void> {
  const { store, cwd, onStep } = place
  const raw = readJsonIfExists(file)
  const migrated = migrateState(raw, file)
  const config = olderConfig(raw, file, place)
  const path = resolve(cwd, migrated.state.plugin_path)
  const target = {
    path,
    crowd: config.execution.additional_plugins,
    // The older version loads its additional plugins in every session.
    arms: [config.execution.additional_plugins.length > 0 ? ('crowd' as const) : ('alone' as const)],
  }
  const run = createRun(store, {
    id,
    kind: 'plugin',
    title: migrated.state.plugin_name,
    argv: [],
    cwd,
    details: { plugin_path: path, plugin: migrated.state.plugin_name },
  })
  try {
    const files = evaluationFiles(run.dir)
    writeJsonAtomic(
      files.config,
      toStoredRequest({
        config,
        target,
        filters: [],
        allowScaffold: false,
        until: 'evaluation',
        replay: 'off',
        cassettes: '',
      }),
    )
    const older = { ...migrated, state: { ...migrated.state, plugin_path: path } }
    writeJsonAtomic(files.state, await unpackOlder(files, older, raw, { config, target }, place))
    note(onStep, 'info', `run ${id} was copied from ${file}`)
  } catch (error) {
    // Without a manifest the next call tries it again.
    removeTree(runFile.manifest(run.dir))
    throw error
  } finally {
    run.release()
  }
}

/** Its settings, with one repetition: the older version counted repetitions in its estimate, and ran each scenario once. */
function olderConfig(raw: unknown, file: string, { cwd, onStep }: Place): PluginConfig {
  const kept = typeof raw === 'object' && raw !== null && 'config' in raw ? raw.config : {}
  const read = pluginFileSchema.safeParse(kept)
  if (!read.success) {
    const why = read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')
    note(onStep, 'warning', `the settings in ${file} cannot be read, so the defaults are used: ${why}`)
    return pluginConfigSchema.parse({})
  }
  const { resume: _, fast_mode: __, ...value } = read.data
  return loadConfigWithOverrides({
    settings: { path: file, base: cwd, value, positionOf: () => ({ file }) },
    env: {},
    flags: { reps: 1 },
    cwd,
  }).config
}

/** The scenarios that --fast runs again. */
export type FailedScenarios = Awaited<ReturnType<typeof failedScenarios>>

/**
 * The scenarios of a run that did not pass, wrong triggers as well as errors, unchanged and with their ids, so that the two
 * runs can be compared. Throws GantryError when no scenario failed.
 */
export async function failedScenarios(store: Store, wanted: string, cwd: string) {
  const runId = await findEvaluation(wanted, { store, cwd, onStep: () => {} })
  const run = openRun(store, runId)
  const failed = new Set<string>()
  let trials = 0
  for await (const record of run.trials()) {
    trials += 1
    if (record.verdict !== 'pass') failed.add(record.case)
  }
  if (trials === 0)
    throw new GantryError('NOT_FOUND', `run ${runId} has no verdicts yet`, {
      hint: `Finish it first: gantry plugin resume ${runId}`,
    })
  if (failed.size === 0)
    throw new GantryError('USAGE', `nothing failed in run ${runId}`, { hint: 'Run without --fast.' })
  const scenarios = readScenarios(evaluationFiles(run.dir)).filter(({ id }) => failed.has(id))
  // Empty when unknown.
  const pluginName = readEvaluationState(run.dir)?.plugin_name ?? ''
  return { runId, pluginName, scenarios }
}
