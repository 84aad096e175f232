import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { readJsonIfExists, writeJsonAtomic } from '../../io/files.ts'
import type { Analysis } from '../analyze/contract.ts'
import { componentId, componentList } from '../component-list.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { mergeScenarios } from '../generate/merge-scenarios.ts'
import { isScenariosFile } from './artefact-shapes.ts'
import type { ScenariosFile } from './evaluation-files.ts'
import type { EvaluationWork } from './evaluation-work.ts'

/**
 * What was generated when the cassettes were recorded, kept beside them. A strict replay takes these and asks nobody: a changed
 * description must not change what is asked, or nobody could say which recordings it has made worthless.
 */
export function recordedScenarios(
  { request, powers }: EvaluationWork,
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
    powers.onStep({
      kind: 'note',
      level: 'warning',
      message: `${component} is not there any more: its recorded scenarios are left out`,
    })
  return mergeScenarios(analysis, { handWritten, generated: standing }).scenarios
}

/** After generation, whenever something is recorded. */
export function keepScenarios(
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
