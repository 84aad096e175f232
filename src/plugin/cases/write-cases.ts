import { relative } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { entryKind } from '../../io/path-kind.ts'
import { resolveInside } from '../../io/resolve-inside.ts'
import type { Analysis } from '../analyze/contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { caseIds } from './case-scenario.ts'
import { usableCaseText } from './read-case-files.ts'
import { caseFiles } from './write/case-files.ts'

export interface WriteCasesOptions {
  /** Absolute: the directory of all cases. Created when missing. */
  readonly dir: string
  readonly plugin: Pick<Analysis, 'plugin_name' | 'plugin_path' | 'components'>
  /** Replace existing files. Default: existing cases are kept. */
  readonly overwrite?: boolean
}

/** What became of a scenario. */
export interface CaseOutcome {
  /** `kept`: something else is there and was left. `unchanged`: the very same is there. `skipped`: it cannot be written. */
  readonly kind: 'written' | 'unchanged' | 'kept' | 'skipped'
  readonly scenario: string
  /** Of the case's directory. */
  readonly path: string
  /** Why it was not written, or what of it the built-in runner cannot see. */
  readonly note?: string
}

/** Scenarios as cases of `claude plugin eval`. Reading them again gives the same scenarios. */
export async function writeCases(
  scenarios: readonly PluginScenario[],
  { dir, plugin, overwrite = false }: WriteCasesOptions,
): Promise<readonly CaseOutcome[]> {
  refuseEscape(dir, plugin.plugin_path)
  const ids = caseIds(scenarios.map(({ id }, index) => ({ name: id, path: `${index}/${id}` })))
  return scenarios.map((scenario, index) => {
    const name = directoryOf(ids.get(`${index}/${scenario.id}`) ?? scenario.id)
    const path = `${dir}/${name}`
    const outcome = (kind: CaseOutcome['kind'], note?: string): CaseOutcome => ({
      kind,
      scenario: scenario.id,
      path: scenario.case !== undefined && scenario.origin === 'case' ? scenario.case.dir : path,
      ...(note !== undefined && { note }),
    })
    if (scenario.origin === 'case') return outcome('kept', 'it is already a case')
    const lost = notWritable(scenario)
    if (lost !== null) return outcome('skipped', lost)
    const { files, note } = caseFiles(scenario, plugin, name === scenario.id ? undefined : scenario.id)
    const entries = Object.entries(files)
    if (entries.every(([file, text]) => usableCaseText(dir, `${name}/${file}`) === text))
      return outcome('unchanged', note)
    const isTaken = ['prompt.md', 'case.yaml', ...Object.keys(files)].some(
      (file) => entryKind(`${path}/${file}`) !== null,
    )
    if (isTaken && !overwrite) return outcome('kept', 'another case exists')
    for (const [file, text] of entries) writeBelow(dir, `${name}/${file}`, text)
    return outcome('written', note)
  })
}

/** Names that mean something else among cases. */
const otherwise: ReadonlySet<string> = new Set(['results', 'mocks', 'cassettes', 'node_modules'])

function directoryOf(id: string): string {
  return otherwise.has(id.toLowerCase()) ? `case-${id}` : id
}

/** Facts that are places on this machine belong to a case that is there. */
function notWritable({ case: facts }: PluginScenario): string | null {
  if (facts === undefined) return null
  const { scaffold_script, history_file, add_dirs, plugins, graders } = facts
  const isBound =
    [scaffold_script, history_file, add_dirs, plugins].some((value) => value !== undefined) ||
    graders.some(({ type }) => type === 'baseline')
  return isBound ? `it needs files of ${facts.dir}` : null
}

function refuseEscape(dir: string, pluginPath: string): void {
  const below = relative(pluginPath, dir)
  if (below.startsWith('..')) return
  const where = resolveInside(pluginPath, below)
  if (where.kind === 'outside') throw unsafe(dir, where.reason)
}

function writeBelow(dir: string, file: string, text: string): void {
  const where = resolveInside(dir, file)
  if (where.kind === 'outside') throw unsafe(`${dir}/${file}`, where.reason)
  writeFileAtomic(where.path, text)
}

function unsafe(path: string, reason: string): GantryError {
  return new GantryError('UNSAFE_PATH', `${path} is not written: ${reason}`, {
    hint: 'Cases are plain files and directories inside of the plugin; remove the link.',
  })
}
