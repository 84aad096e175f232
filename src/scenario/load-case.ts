import { dirname, isAbsolute, join, resolve } from 'node:path'
import { loadProject, type Project } from '../config/load.ts'
import type { TargetConfig } from '../config/target-schema.ts'
import { expandVariables } from '../core/expand.ts'
import { compilePattern } from '../core/pattern.ts'
import { scriptsOfGates } from '../gates/index.ts'
import { findProgram } from '../io/find-program.ts'
import { isDirectory, isFile } from '../io/path-kind.ts'
import { escapingLink } from '../io/resolve-inside.ts'
import { fileProblem, type SourceFile } from '../io/yaml.ts'
import { readRubric } from '../judge/rubric.ts'
import type { Case } from './case.ts'
import { discoverScenarios, type Selection, selectScenarios, shownPath } from './discover.ts'
import { scriptFiles } from './grader-files.ts'
import type { Scenario } from './schema.ts'
import { scriptVariables } from './trial-environment.ts'
import { initialState } from './workspace.ts'

export interface LoadOptions {
  readonly project: Project
  readonly cwd: string
  /** `--target-binary`: wins over the scenario and the configuration. */
  readonly targetBinary?: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The scenarios the user named, resolved and checked. Throws at the first that is broken. */
export async function loadScenarios(
  paths: readonly string[],
  selection: Selection,
  options: Omit<LoadOptions, 'project'> & { readonly project?: Project },
): Promise<LoadedScenarios> {
  const project = options.project ?? loadProject(options.cwd)
  const isSelected = selectScenarios(selection)
  const found = await discoverScenarios(paths, project, options.cwd)
  const selected = found.filter(({ value }) => isSelected(value))
  return {
    project,
    cases: selected.map((source) => loadCase(source, { ...options, project })),
    found: found.length,
  }
}

export interface LoadedScenarios {
  readonly project: Project
  readonly cases: Case[]
  /** How many there are before the selection. */
  readonly found: number
}

/** Resolves and checks everything a scenario refers to, so that no money is spent on a broken one. */
export function loadCase(source: SourceFile<Scenario>, options: LoadOptions): Case {
  const scenario = source.value
  const templateDir = findTemplate(source, options.project)
  const target = resolveTarget(source, options)
  const { judge, gates } = scenario.evaluation
  return {
    name: scenario.name,
    file: source.path,
    shownFile: shownPath(source.path, options.project.root),
    source,
    scenario,
    target,
    targetProgram: findTarget(source, target, templateDir, options),
    templateDir,
    rubric: judge?.enabled === true ? findRubric(source, judge.rubric, options.project) : null,
    graderFiles: scriptFiles(
      [
        ...scriptsOfGates(gates),
        ...scenario.scripts.post.map((script) => script.command),
        ...scenario.scripts.evaluators.map((script) => script.command),
      ],
      templateDir,
    ),
    oracleFiles: scenario.oracle === undefined ? [] : scriptFiles([scenario.oracle.command], templateDir),
  }
}

function findTemplate(source: SourceFile<Scenario>, project: Project): string {
  const name = source.value.template_folder
  if (isAbsolute(name)) {
    throw fileProblem(
      source,
      ['template_folder'],
      `template folder '${name}' is an absolute path`,
      'Write it relative to the scenario file, to the fixtures folder or to the project.',
    )
  }
  const places = lookupPlaces(source, project).map((place) => join(place, name))
  const found = places.find(isDirectory)
  if (found !== undefined) return withoutEscapes(source, found)
  throw fileProblem(
    source,
    ['template_folder'],
    `template folder '${name}' is not there`,
    `Looked at ${places.join(', ')}.`,
  )
}

/** `initial-state/` becomes the root of the workspace, so its links must stay inside it. */
function withoutEscapes(source: SourceFile<Scenario>, templateDir: string): string {
  const initial = join(templateDir, initialState)
  const roots = isDirectory(initial) ? [templateDir, initial] : [templateDir]
  for (const root of roots) {
    const link = escapingLink(root, (path) => root === templateDir && path === initialState)
    if (link === null) continue
    throw fileProblem(
      source,
      ['template_folder'],
      `the link ${link.path} leads out of ${root}: ${link.reason}`,
      'Remove it, or make it lead to a place inside the directory.',
    )
  }
  return templateDir
}

function findRubric(
  source: SourceFile<Scenario>,
  name: string,
  project: Project,
): NonNullable<Case['rubric']> {
  const places = lookupPlaces(source, project).map((place) => join(place, name))
  const path = places.find(isFile)
  if (path !== undefined) return { path, value: readRubric(path) }
  throw fileProblem(
    source,
    ['evaluation', 'judge', 'rubric'],
    `rubric '${name}' is not there`,
    `Looked at ${places.join(', ')}.`,
  )
}

/** Beside the scenario file, then under the fixtures folder, then at the project's root. */
function lookupPlaces(source: SourceFile<Scenario>, { root, config }: Project): string[] {
  return [dirname(source.path), resolve(root, config.fixtures_path), root]
}

function resolveTarget(
  source: SourceFile<Scenario>,
  { project, targetBinary, env }: LoadOptions,
): TargetConfig {
  const own = source.value.target === 'from_config' ? project.config.target : source.value.target
  if (own === undefined) {
    throw fileProblem(
      source,
      ['target'],
      'the scenario takes its target from the configuration, which has none',
      project.source === null
        ? 'Write a gantry.yaml with a target, or name the tool here.'
        : `Add a target to ${project.source.path}.`,
    )
  }
  const target = targetBinary === undefined ? own : { ...own, binary: targetBinary }
  const at = source.value.target === 'from_config' ? ['target'] : ['target', 'command_pattern']
  const pattern = target.command_pattern
  if (pattern !== undefined && pattern.trim() !== '') {
    const compiled = compilePattern(pattern)
    if (compiled.kind === 'bad')
      throw fileProblem(source, at, `command_pattern: ${compiled.message}`, compiled.hint)
  }
  for (const [name, value] of Object.entries(target.env)) {
    const { missing } = expandVariables(value, env)
    const unknown = missing.filter((variable) => !scriptVariables.includes(variable))
    if (unknown.length > 0) {
      const path = source.value.target === 'from_config' ? ['target'] : ['target', 'env', name]
      throw fileProblem(
        source,
        path,
        `target.env.${name} needs the variable ${unknown.join(', ')}, which is not set`,
        `Export ${unknown[0]} before the run.`,
      )
    }
  }
  return target
}

function findTarget(
  source: SourceFile<Scenario>,
  { binary, env }: TargetConfig,
  templateDir: string,
  { project, cwd, targetBinary, env: host }: LoadOptions,
): string | null {
  if (!binary.includes('/')) {
    const path = env.PATH ?? host.PATH ?? ''
    // Set-up commands may build or install the tool; without any it must be there now.
    if (findProgram(binary, path) !== null || source.value.setup.commands.length > 0) return null
    throw missingTarget(source, binary, 'It is not on PATH.')
  }
  const inWorkspace = [join(templateDir, binary), join(templateDir, 'initial-state', binary)]
  if (targetBinary === undefined && inWorkspace.some(isFile)) return null
  const outside = [
    resolve(targetBinary === undefined ? project.root : cwd, binary),
    resolve(dirname(source.path), binary),
  ]
  const found = outside.find(isFile)
  if (found !== undefined) return found
  if (targetBinary === undefined && source.value.setup.commands.length > 0) return null
  throw missingTarget(source, binary, `Looked at ${[...inWorkspace, ...outside].join(', ')}.`)
}

function missingTarget(source: SourceFile<Scenario>, binary: string, where: string): Error {
  return fileProblem(
    source,
    ['target'],
    `the tool '${binary}' is not there`,
    `${where} Install it, or name another with --target-binary.`,
  )
}
