import { join } from 'node:path'
import { counted } from '../../core/counted.ts'
import { GantryError } from '../../core/error.ts'
import { monotonicMs } from '../../io/clock.ts'
import { readJsonIfExists, writeJsonAtomic } from '../../io/files.ts'
import { sha256 } from '../../io/sha256.ts'
import type { Analysis } from '../analyze/contract.ts'
import { readCases } from '../cases/read-cases.ts'
import { componentId, componentList } from '../component-list.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { generateScenarios } from '../generate/generate-scenarios.ts'
import { mergeScenarios } from '../generate/merge-scenarios.ts'
import { readScenariosFile } from '../generate/read-scenarios-file.ts'
import { completed } from '../state/evaluation-state.ts'
import {
  isScenariosFile,
  readAnalysis,
  readScenarios,
  readWhole,
  type ScenariosFile,
} from './evaluation-files.ts'
import type { EvaluationWork } from './evaluation-work.ts'
import { openStageModel } from './stage-model.ts'

/** Stage 2: what is going to be asked. Scenarios of a component that was paid for are never paid for again. */
export async function runGeneration(work: EvaluationWork): Promise<readonly PluginScenario[]> {
  const { request, context, files } = work
  const analysis = readAnalysis(files)
  const startedMs = monotonicMs()
  if (work.state().fast_from !== null) return keptScenarios(work, analysis)
  const handWritten = await ownScenarios(work, analysis)
  const recorded = recordedScenarios(work, analysis, handWritten)
  const all = recorded ?? (await generated(work, analysis, handWritten))
  keepScenarios(work, analysis.plugin_name, all)
  const scenarios = filtered(all, request.filters)
  const file: ScenariosFile = { schema_version: 1, plugin_name: analysis.plugin_name, scenarios }
  writeJsonAtomic(files.scenarios, file)
  work.advance((state, now) => completed(state, 'generation', now))
  context.onStep({
    kind: 'stage_complete',
    stage: 'generation',
    duration_ms: monotonicMs() - startedMs,
    count: scenarios.length,
  })
  return scenarios
}

/** By models and templates, with those that people wrote. */
async function generated(
  work: EvaluationWork,
  analysis: Analysis,
  handWritten: readonly PluginScenario[],
): Promise<readonly PluginScenario[]> {
  const { request, context, files, budget } = work
  const { config } = request
  await using opened = needsModel(analysis, work)
    ? await openStageModel(work, {
        name: config.generation.model,
        cassette: '_generation',
        timeoutMs: config.generation.api_timeout_ms,
      })
    : null
  const generation = await generateScenarios(analysis, {
    config,
    model: opened?.model ?? null,
    budget,
    signal: context.signal,
    handWritten,
    onStep: context.onStep,
    checkpoint: {
      load: (component) => readWhole(files.generated(sha256(component).slice(0, 24))) ?? undefined,
      save: (component, value) => writeJsonAtomic(files.generated(sha256(component).slice(0, 24)), value),
    },
  })
  writeJsonAtomic(files.generationMetadata, generation.metadata)
  return generation.scenarios
}

/** In fast mode they are those of the earlier run, and nothing is written anew. */
function keptScenarios(work: EvaluationWork, analysis: Analysis): readonly PluginScenario[] {
  const { files, context } = work
  refuseOtherPlugin(work, analysis)
  const scenarios = readScenarios(files)
  const file: ScenariosFile = { schema_version: 1, plugin_name: analysis.plugin_name, scenarios }
  writeJsonAtomic(files.scenarios, file)
  work.advance((state, now) => completed(state, 'generation', now))
  context.onStep({ kind: 'stage_complete', stage: 'generation', duration_ms: 0, count: scenarios.length })
  return scenarios
}

/** Scenarios of another plugin would all fail, and say nothing. */
function refuseOtherPlugin({ files, state }: EvaluationWork, { plugin_name: name }: Analysis): void {
  const { plugin_name: earlier } = readJsonIfExists(files.scenarios) as ScenariosFile
  if (earlier === '' || earlier === name) return
  throw new GantryError('USAGE', `run ${state().fast_from} is of the plugin '${earlier}', not of '${name}'`, {
    hint: 'See "gantry plugin list" for the runs of each plugin.',
  })
}

/** Those of files, and the cases of the plugin itself. */
async function ownScenarios(
  { request, context }: EvaluationWork,
  analysis: Analysis,
): Promise<readonly PluginScenario[]> {
  const { config } = request
  const written: PluginScenario[] = []
  for (const path of config.scenarios) written.push(...(await readScenariosFile(path)))
  if (!config.cases) return written
  const { scenarios, problems } = await readCases(analysis.plugin_path, {
    plugin: analysis,
    realServers: config.scope.mcp_servers,
  })
  for (const { path, message, hint } of problems)
    context.onStep({
      kind: 'note',
      level: 'warning',
      message: `${path}: ${message}${hint === undefined ? '' : `. ${hint}`}`,
    })
  return [...written, ...scenarios]
}

function needsModel({ components }: Analysis, { request }: EvaluationWork): boolean {
  const { scope } = request.config
  return (scope.skills && components.skills.length > 0) || (scope.agents && components.agents.length > 0)
}

function filtered(
  scenarios: readonly PluginScenario[],
  filters: readonly string[],
): readonly PluginScenario[] {
  const kept =
    filters.length === 0 ? scenarios : scenarios.filter(({ id }) => filters.some((part) => id.includes(part)))
  if (kept.length > 0) return kept
  if (scenarios.length > 0)
    throw new GantryError(
      'USAGE',
      `the filter matches none of the ${counted(scenarios.length, 'scenario')}`,
      {
        hint: `The first ones are: ${scenarios
          .slice(0, 5)
          .map(({ id }) => id)
          .join(', ')}.`,
      },
    )
  throw new GantryError('NOT_FOUND', 'there is nothing to try: no component in scope has a scenario', {
    hint: 'Widen --scope (hooks and mcp_servers are left out by default), or write scenarios of your own.',
  })
}

/**
 * What was generated when the cassettes were recorded, kept beside them. A strict replay takes these and asks nobody: a changed
 * description must not change what is asked, or nobody could say which recordings it has made worthless.
 */
function recordedScenarios(
  { request, context }: EvaluationWork,
  analysis: Analysis,
  handWritten: readonly PluginScenario[],
): readonly PluginScenario[] | null {
  if (request.replay !== 'strict') return null
  const path = fileIn(request.cassettes)
  const kept = readJsonIfExists(path)
  if (kept === undefined) return null
  if (!isScenariosFile(kept))
    throw new GantryError('CORRUPT', `${path} is damaged`, {
      hint: 'Restore it, or record again with --replay record.',
      at: { file: path },
    })
  const known = new Set(
    componentList(analysis.components).map(({ type, component }) => componentId(type, component.name)),
  )
  const generated = kept.scenarios.filter(({ origin }) => origin !== 'file' && origin !== 'case')
  const [standing, gone] = [
    generated.filter((scenario) => known.has(idOf(scenario))),
    generated.filter((scenario) => !known.has(idOf(scenario))),
  ]
  for (const component of new Set(gone.map(idOf)))
    context.onStep({
      kind: 'note',
      level: 'warning',
      message: `${component} no longer exists: its recorded scenarios are left out`,
    })
  return mergeScenarios(analysis, { handWritten, generated: standing }).scenarios
}

/** After generation, whenever something is recorded. */
function keepScenarios(
  { request }: Pick<EvaluationWork, 'request'>,
  pluginName: string,
  scenarios: readonly PluginScenario[],
): void {
  if (request.replay !== 'record' && request.replay !== 'auto') return
  const file: ScenariosFile = { schema_version: 1, plugin_name: pluginName, scenarios }
  writeJsonAtomic(fileIn(request.cassettes), file)
}

function fileIn(cassettes: string): string {
  return join(cassettes, 'scenarios.json')
}

function idOf({ component_type, component_ref }: PluginScenario): string {
  return componentId(component_type, component_ref)
}
