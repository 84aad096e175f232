import { entryKind, pathKind } from '../../io/path-kind.ts'
import { resolveInside } from '../../io/resolve-inside.ts'
import { realPath } from '../../io/resolve-links.ts'
import type { Analysis } from '../analyze/contract.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { caseIds, caseScenario } from './case-scenario.ts'
import { expectationOf } from './expectation.ts'
import { evalDirectory, findCases } from './find-cases.ts'
import { plainHistory } from './history-file.ts'
import { readMocks } from './mock-servers.ts'
import { readCase, type WrittenCase } from './read-case.ts'
import { type CaseProblem, problem, usableCaseText } from './read-case-text.ts'
import { scaffoldFiles } from './scaffold-files.ts'

export interface ReadCasesOptions {
  readonly plugin: Pick<Analysis, 'manifest' | 'components' | 'plugin_name'>
  /** Whether cases with mocks for MCP tools call the plugin's real servers instead. Default: the mocks answer. */
  readonly realServers?: boolean
}

/**
 * The cases of a plugin in the format of `claude plugin eval`, as scenarios. A case that cannot be used is skipped and reported;
 * the others are not affected by it. Nothing is followed out of the plugin.
 */
export async function readCases(
  pluginRoot: string,
  { plugin, realServers = false }: ReadCasesOptions,
): Promise<{ readonly scenarios: readonly PluginScenario[]; readonly problems: readonly CaseProblem[] }> {
  const directory = evalDirectory(plugin.manifest)
  const root = `${pluginRoot}/${directory.path}`
  const problems: CaseProblem[] = []
  if (directory.ignored !== undefined)
    problems.push(problem('warning', `${pluginRoot}/.claude-plugin/plugin.json`, directory.ignored))
  const where = resolveInside(pluginRoot, directory.path)
  if (where.kind === 'outside')
    return { scenarios: [], problems: [...problems, problem('error', root, `is not read: ${where.reason}`)] }
  if (entryKind(root) !== 'directory') return { scenarios: [], problems }
  const found = findCases(root)
  problems.push(...found.problems)
  const read = found.cases.map((path) => ({ path, ...readCase(`${root}/${path}`) }))
  problems.push(...read.flatMap((one) => one.problems))
  const usable = read.flatMap(({ path, written }) => (written === null ? [] : [{ path, written }]))
  const ids = caseIds(usable.map(({ path, written }) => ({ path, name: written.name })))
  const scenarios = usable.flatMap(({ path, written }) => {
    const extras = extrasOf(written, pluginRoot)
    const mocks = readMocks(root, path, realServers ? [] : found.mocks, plugin)
    const faults = [...extras.problems, ...mocks.problems]
    problems.push(...faults)
    if (faults.length > 0) return []
    const { prompt, tags = [], graders } = written
    const expectation = expectationOf({ prompt, tags, graders }, plugin)
    problems.push(...expectation.unknown.map((name) => unknownComponent(written, name)))
    const played = mocks.servers.length > 0 ? { mocks: mocks.servers } : {}
    return [caseScenario(written, ids.get(path) ?? path, expectation, { ...extras.extras, ...played })]
  })
  return { scenarios, problems }
}

function unknownComponent({ dir }: WrittenCase, grader: string): CaseProblem {
  return problem('warning', dir, `grader '${grader}' is about a component that the plugin does not have`)
}

function extrasOf({ dir, history_file, scaffold_script, plugins }: WrittenCase, pluginRoot: string) {
  const messages =
    history_file === undefined ? null : plainHistory(usableCaseText(dir, below(dir, history_file)) ?? '')
  const files =
    scaffold_script === undefined
      ? null
      : scaffoldFiles(usableCaseText(dir, below(dir, scaffold_script)) ?? '')
  const loaded = (plugins ?? []).map((path) => ({
    path,
    where: resolveInside(pluginRoot, below(pluginRoot, `${dir}/${path}`)),
  }))
  const problems = loaded
    .filter(({ where }) => where.kind !== 'inside' || pathKind(where.path) !== 'directory')
    .map(({ path, where }) =>
      problem(
        'error',
        dir,
        `plugins names '${path}', ${where.kind === 'outside' ? `which may not be used: ${where.reason}` : 'which does not exist'}`,
        'Other plugins are named by execution.additional_plugins.',
      ),
    )
  const own = realPath(pluginRoot)
  const others = loaded.flatMap(({ where }) =>
    where.kind === 'inside' && realPath(where.path) !== own ? [where.path] : [],
  )
  return {
    extras: {
      ...(messages !== null && { setup_messages: messages }),
      ...(files !== null && { files }),
      ...(others.length > 0 && { plugins: others }),
    },
    problems,
  }
}

function below(root: string, path: string): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
}
