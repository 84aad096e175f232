import { basename, delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { loadProject, type PassedIn, type Project } from '../config/load.ts'
import { loadOwnGates } from '../config/own-gates.ts'
import { type TargetConfig, targetSchema } from '../config/target-schema.ts'
import type { GantryError } from '../core/error.ts'
import { expandVariables } from '../core/expand.ts'
import { compilePattern } from '../core/pattern.ts'
import type { OwnGate } from '../gates/define-gate.ts'
import { scriptsOfGates } from '../gates/index.ts'
import { findProgram } from '../io/find-program.ts'
import { isDirectory, isFile } from '../io/path-kind.ts'
import { escapingLink } from '../io/resolve-inside.ts'
import { fileProblem, type SourceFile } from '../io/yaml.ts'
import { readRubric } from '../judge/rubric.ts'
import type { Case } from './case.ts'
import { discoverScenarios, type Selection, selectScenarios, shownPath } from './discover.ts'
import { graderScripts, lockedScripts, missingGraderScripts, missingPrograms } from './grader-scripts.ts'
import type { Scenario } from './schema.ts'
import { scriptVariables } from './trial-environment.ts'
import { initialState } from './workspace.ts'

export interface LoadOptions {
  readonly project: Project
  readonly cwd: string
  /** `--target-binary`: overrides the scenario and the configuration. */
  readonly targetBinary?: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly ownGates: readonly OwnGate[]
  /** Takes what is missing on this machine and not wrong in the file: the tool, a variable. Default: it is thrown. */
  readonly onMissingHere?: (problem: GantryError) => void
}

function missingHere(problem: GantryError, { onMissingHere }: LoadOptions): void {
  if (onMissingHere === undefined) throw problem
  onMissingHere(problem)
}

/** The scenarios the user named, resolved and checked. Throws at the first broken one. */
export async function loadScenarios(
  paths: readonly string[],
  selection: Selection,
  options: Omit<LoadOptions, 'project' | 'ownGates'> & {
    readonly project?: Project
    readonly passedIn?: PassedIn
  },
) {
  const { cwd, passedIn = {} } = options
  const project = options.project ?? { ...loadProject(cwd), passedIn }
  const isSelected = selectScenarios(selection)
  const ownGates = await loadOwnGates(project)
  const found = await discoverScenarios(paths, project, options.cwd, ownGates)
  const selected = found.filter(({ value }) => isSelected(value))
  return {
    project,
    cases: selected.map((source) => loadCase(source, { ...options, project, ownGates })),
    /** How many there are before the selection. */
    found: found.length,
    /** The tags of all of them. */
    tags: [...new Set(found.flatMap(({ value }) => value.tags))],
  }
}

/** Resolves and checks everything a scenario refers to, so that no money is spent on a broken one. */
export function loadCase(source: SourceFile<Scenario>, options: LoadOptions): Case {
  const scenario = source.value
  const templateDir = findTemplate(source, options.project)
  const target = resolveTarget(source, options)
  const { judge, gates } = scenario.evaluation
  const targetProgram = findTarget(source, target, templateDir, options)
  const tool = targetProgram === null ? '' : dirname(targetProgram)
  const { PATH: path } = options.env
  // A PATH of the target may name directories that exist only in a trial.
  const isKnown = path !== undefined && target.env.PATH === undefined && options.onMissingHere === undefined
  refuseUnusableScripts(source, templateDir, isKnown ? `${tool}${delimiter}${path}` : null)
  return {
    name: scenario.name,
    file: source.path,
    shownFile: shownPath(source.path, options.project.root),
    source,
    scenario,
    ownGates: options.ownGates.filter(({ definition }) => gates.some(({ type }) => type === definition.type)),
    target,
    targetProgram,
    templateDir,
    rubric: judge?.enabled === true ? findRubric(source, judge.rubric, options.project) : null,
    graderFiles: graderScripts(gradingCommands(scenario), templateDir),
    oracleFiles: scenario.oracle === undefined ? [] : graderScripts([scenario.oracle.command], templateDir),
  }
}

/** What gates, post scripts and evaluators run. */
export function gradingCommands({ evaluation, scripts }: Scenario): string[] {
  const authored = [...scripts.post, ...scripts.evaluators].map(({ command }) => command)
  return [...scriptsOfGates(evaluation.gates), ...authored]
}

/**
 * Scripts and programs that could never run. Setup commands may create them or make them executable. What a gate other than `script`
 * starts, or the prompt or such a gate names, may be the agent's work.
 */
function refuseUnusableScripts(source: SourceFile<Scenario>, templateDir: string, searchPath: string | null) {
  const { scripts, setup, evaluation, oracle, task } = source.value
  if (setup.commands.length > 0) return
  const authored = (command: string, ...path: (string | number)[]) => ({
    path,
    commands: [command],
    isAuthors: true,
  })
  const written = [
    ...evaluation.gates.map((gate, index) => ({
      path: ['evaluation', 'gates', index],
      commands: scriptsOfGates([gate]),
      isAuthors: gate.type === 'script',
    })),
    ...scripts.post.map(({ command }, index) => authored(command, 'scripts', 'post', index)),
    ...scripts.evaluators.map(({ command }, index) => authored(command, 'scripts', 'evaluators', index)),
    ...(oracle === undefined ? [] : [authored(oracle.command, 'oracle')]),
  ]
  const asked = JSON.stringify([task.prompt, evaluation.gates.filter(({ type }) => type !== 'script')])
  const problems = written.flatMap(({ path, commands, isAuthors }) => {
    const own = isAuthors ? commands : []
    const instead =
      path[0] === 'evaluation' ? ' Check a file that the agent makes with command_succeeds.' : ''
    return [
      ...lockedScripts(commands, templateDir).map((file) => ({
        path,
        message: `${file} is not executable`,
        hint: `Run: chmod +x ${file}, in ${templateDir}.`,
      })),
      ...missingGraderScripts(own, templateDir)
        .filter((file) => !asked.includes(basename(file)))
        .map((file) => ({
          path,
          message: `${file} does not exist`,
          hint: `It is looked for in ${templateDir}.${instead}`,
        })),
      ...(searchPath === null ? [] : missingPrograms(own, searchPath)).map((program) => ({
        path,
        message: `the program '${program}' is not on PATH`,
        hint: `Install ${program}, or correct the command.`,
      })),
    ]
  })
  const [first] = problems
  if (first === undefined) return
  const lines = (key: 'message' | 'hint'): string[] => [...new Set(problems.map((problem) => problem[key]))]
  throw fileProblem(source, first.path, lines('message').join('; '), lines('hint').join(' '))
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
  const places = lookupPlaces(source, project)
  const [beside = '', ...others] = places.flatMap((place) => [
    join(place, name),
    join(place, templates, name),
  ])
  const there = [beside, ...others].filter(isDirectory)
  // A directory elsewhere that contains the scenario file may only happen to have the name of the template.
  const found =
    there.find((path) => path === beside || relative(path, source.path).startsWith('..')) ?? there[0]
  if (found !== undefined) return withoutEscapes(source, found)
  throw fileProblem(
    source,
    ['template_folder'],
    `template folder '${name}' does not exist`,
    `Looked at ${places.map((place) => join(place, name)).join(', ')}, and in ${templates}/ beside each of them.`,
  )
}

/** Where llm-tool-test has all templates. */
const templates = 'templates'

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
      'Remove it, or point it to a path inside the directory.',
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
    `rubric '${name}' does not exist`,
    `Looked at ${places.join(', ')}.`,
  )
}

/** Beside the scenario file, then under the fixtures folder, then at the project's root. A template may also be in `templates/` there. */
function lookupPlaces(source: SourceFile<Scenario>, { root, config }: Project): string[] {
  return [dirname(source.path), resolve(root, config.fixtures_path), root]
}

function resolveTarget(source: SourceFile<Scenario>, options: LoadOptions): TargetConfig {
  const { project, targetBinary, env } = options
  const given = targetBinary === undefined ? undefined : targetSchema.parse({ binary: targetBinary })
  const own = source.value.target === 'from_config' ? (project.config.target ?? given) : source.value.target
  if (own === undefined) {
    throw fileProblem(
      source,
      ['target'],
      'the scenario takes its target from the configuration, which has none',
      project.source === null
        ? 'Write a gantry.yaml with a target, name the tool here, or choose it with --target-binary.'
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
      const problem = `target.env.${name} needs the variable ${unknown.join(', ')}, which is not set`
      missingHere(fileProblem(source, path, problem, `Export ${unknown[0]} before the run.`), options)
    }
  }
  return target
}

function findTarget(
  source: SourceFile<Scenario>,
  { binary, env }: TargetConfig,
  templateDir: string,
  options: LoadOptions,
): string | null {
  const { project, cwd, targetBinary, env: host } = options
  if (!binary.includes('/')) {
    const path = env.PATH ?? host.PATH ?? ''
    // Setup commands may build or install the tool; without any it must exist now.
    if (findProgram(binary, path) !== null || source.value.setup.commands.length > 0) return null
    missingHere(missingTarget(source, binary, 'It is not on PATH.'), options)
    return null
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
  missingHere(missingTarget(source, binary, `Looked at ${[...inWorkspace, ...outside].join(', ')}.`), options)
  return null
}

function missingTarget(source: SourceFile<Scenario>, binary: string, where: string): GantryError {
  return fileProblem(
    source,
    ['target'],
    `the tool '${binary}' was not found`,
    `${where} Install it, or choose another with --target-binary.`,
  )
}
