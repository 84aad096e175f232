import { GantryError } from '../../core/error.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { pathBelow } from '../../io/path-below.ts'
import { entryKind } from '../../io/path-kind.ts'
import { resolveInside } from '../../io/resolve-inside.ts'
import type { Analysis } from '../analyze/contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { caseIds } from './case-scenario.ts'
import { usableCaseText } from './read-case-text.ts'
import { caseFiles } from './write/case-files.ts'

export interface WriteCasesOptions {
  /** Absolute: the directory of all cases. Created when missing. */
  readonly dir: string
  readonly plugin: Pick<Analysis, 'plugin_name' | 'plugin_path' | 'components'>
  /** Replace existing files. Default: existing cases are kept. */
  readonly overwrite?: boolean
}

/** Scenarios as cases of `claude plugin eval`. Reading them again gives the same scenarios. */
export async function writeCases(
  scenarios: readonly PluginScenario[],
  { dir, plugin, overwrite = false }: WriteCasesOptions,
) {
  refuseEscape(dir, plugin.plugin_path)
  const ids = caseIds(scenarios.map(({ id }, index) => ({ name: id, path: `${index}/${id}` })))
  return scenarios.map((scenario, index) => {
    const name = directoryOf(ids.get(`${index}/${scenario.id}`) ?? scenario.id)
    const path = `${dir}/${name}`
    /**
     * `kept`: a different case exists. `unchanged`: the same case exists. `skipped`: it cannot be written. `note`: why it was not written,
     * or what the built-in runner cannot check.
     */
    const outcome = (kind: 'written' | 'unchanged' | 'kept' | 'skipped', note?: string) => ({
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

/**
 * A blank case to fill in, as `claude plugin eval init --bare` writes it. `dir` is the directory of all cases. Returns the written
 * files. Throws GantryError USAGE for an unusable name, or when the case exists.
 */
export function writeBlankCase(dir: string, pluginPath: string, name: string): readonly string[] {
  refuseEscape(dir, pluginPath)
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) || otherwise.has(name.toLowerCase()))
    throw new GantryError('USAGE', `'${name}' cannot be the name of a case`, {
      hint: 'Use letters, digits, ".", "_" and "-".',
    })
  if (entryKind(`${dir}/${name}`) !== null)
    throw new GantryError('USAGE', `${dir}/${name} already exists`, { hint: 'Choose another name.' })
  return Object.entries(blankCase).map(([file, text]) => {
    writeBelow(dir, `${name}/${file}`, text)
    return `${dir}/${name}/${file}`
  })
}

const blankCase = {
  'prompt.md':
    '---\nmax_turns: 10\nallowed_tools: [Read, Glob, Grep, Skill]\n---\n\nTODO: describe what the agent should do\n',
  'graders/criteria.md':
    '---\ntype: llm\nweight: 1\n---\n\nTODO: describe what a successful response looks like\n',
}

/** Reserved names in a directory of cases. */
const otherwise: ReadonlySet<string> = new Set(['results', 'mocks', 'cassettes', 'node_modules'])

function directoryOf(id: string): string {
  return otherwise.has(id.toLowerCase()) ? `case-${id}` : id
}

/** Absolute paths on this machine belong to a case that exists already. */
function notWritable({ case: facts }: PluginScenario): string | null {
  if (facts === undefined) return null
  const { scaffold_script, history_file, add_dirs, plugins, graders } = facts
  const isBound =
    [scaffold_script, history_file, add_dirs, plugins].some((value) => value !== undefined) ||
    graders.some(({ type }) => type === 'baseline')
  return isBound ? `it needs files of ${facts.dir}` : null
}

function refuseEscape(dir: string, pluginPath: string): void {
  const below = pathBelow(pluginPath, dir)
  if (below === null) return
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
