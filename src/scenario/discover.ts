import { basename, relative, resolve } from 'node:path'
import picomatch from 'picomatch'
import { z } from 'zod'
import type { Project } from '../config/load.ts'
import { GantryError } from '../core/error.ts'
import { isObject } from '../core/json-fields.ts'
import { didYouMean } from '../core/nearest.ts'
import { compilePattern } from '../core/pattern.ts'
import type { OwnGate } from '../gates/define-gate.ts'
import { findFiles } from '../io/find-files.ts'
import { pathKind } from '../io/path-kind.ts'
import { readShortText } from '../io/read-short-text.ts'
import { realPath } from '../io/resolve-links.ts'
import { readYaml, type SourceFile } from '../io/yaml.ts'
import { type Scenario, scenarioSchema, scenarioSchemaWith } from './schema.ts'

/** Keys that only a scenario has, so that a rubric or an agent script in the same folder is not taken for a broken scenario. */
const scenarioKeys = ['task', 'evaluation', 'template_folder']

/** The scenarios the user named. A file that does not load is an error, never skipped silently. */
export async function discoverScenarios(
  named: readonly string[],
  project: Project,
  cwd: string,
  ownGates: readonly OwnGate[],
): Promise<SourceFile<Scenario>[]> {
  const schema = scenarioSchemaWith(ownGates)
  return (await discoverFiles(named, project, cwd, schema)).map((file) => readYaml(file, schema))
}

/**
 * Absolute paths of what the user named: files, directories, globs, or names of scenarios in the project. By default those of gantry.yaml.
 */
export async function discoverFiles(
  named: readonly string[],
  project: Project,
  cwd: string,
  schema = scenarioSchema,
): Promise<string[]> {
  if (named.length > 0) {
    const files = await Promise.all(named.map((name) => filesOf(name, project, cwd, schema)))
    return withoutLinks(files.flat())
  }
  const files = withoutLinks(await configuredFiles(project))
  if (files.length > 0) return files
  const isOriginal = ['llm-tool-test-config.toml', 'llm-test-fixtures'].some(
    (name) => pathKind(resolve(project.root, name)) !== null,
  )
  throw new GantryError('NOT_FOUND', 'no scenarios found', {
    hint: isOriginal
      ? `Run 'gantry migrate' to use the scenarios of llm-tool-test in ${project.root}.`
      : `Looked for ${project.config.scenarios.join(', ')} in ${project.root}. Name a file or directory, or create one with 'gantry scenario new'.`,
  })
}

/** Each file once, under its own path rather than that of a link to it. */
function withoutLinks(files: readonly string[]): string[] {
  const shown = new Map<string, string>()
  for (const file of files) {
    const real = realPath(file)
    if (file === real || !shown.has(real)) shown.set(real, file)
  }
  return [...shown.values()]
}

async function filesOf(
  name: string,
  project: Project,
  cwd: string,
  schema: typeof scenarioSchema,
): Promise<string[]> {
  const path = resolve(cwd, name)
  const kind = pathKind(path)
  if (kind === 'file') return [path]
  if (kind === 'directory') {
    const found = (await findFiles(['**/*.{yaml,yml}'], path)).filter(looksLikeScenario)
    if (found.length > 0) return found
    throw new GantryError('NOT_FOUND', `no scenario in ${name}`, {
      hint: `A scenario is a YAML file with the keys ${scenarioKeys.join(', ')}.`,
    })
  }
  const globbed = /[*?{[]/.test(name) ? (await findFiles([name], cwd)).filter(looksLikeScenario) : []
  return globbed.length > 0 ? globbed : filesByName(name, project, schema)
}

async function filesByName(name: string, project: Project, schema: typeof scenarioSchema): Promise<string[]> {
  const configured = await configuredFiles(project)
  const byFile = configured.filter((file) => basename(file).replace(/\.ya?ml$/, '') === name)
  if (byFile.length > 0) return byFile
  const sources = configured.map((file) => readYaml(file, schema))
  const byName = sources.filter((source) => source.value.name === name)
  if (byName.length > 0) return byName.map((source) => source.path)
  const names = sources.map((source) => source.value.name)
  throw new GantryError('NOT_FOUND', `no scenario file, directory or name '${name}'`, {
    hint: didYouMean(name, names, "'gantry scenario list' lists all scenarios."),
  })
}

async function configuredFiles({ config, root }: Project): Promise<string[]> {
  return (await findFiles(config.scenarios, root)).filter(looksLikeScenario)
}

/** A file that is not YAML stays in: the loader reports what is wrong with it. */
function looksLikeScenario(file: string): boolean {
  if (/^gantry\.ya?ml$/.test(basename(file))) return false
  // Nearly always a key at the start of a line decides it, and the file is parsed only once, by the loader.
  const text = readShortText(file, 1_000_000) ?? ''
  if (blockMapping.test(text) && keyAtLineStart.test(text)) return true
  try {
    const { value } = readYaml(file, z.unknown())
    return scenarioKeys.some((key) => isObject(value) && Object.hasOwn(value, key))
  } catch (error) {
    if (error instanceof GantryError && error.code === 'INVALID_FILE') return true
    throw error
  }
}

/** Begins with a key, after comments: in `{ jobs: {` a key at the start of a later line may be a nested one. */
const blockMapping = /^\uFEFF?(?:[ \t]*(?:#.*)?\r?\n|---[ \t]*\r?\n)*["']?\w/

const keyAtLineStart = new RegExp(`^["']?(?:${scenarioKeys.join('|')})["']?[ \\t]*:`, 'm')

/** For messages and records: relative to the project when the file is inside it. */
export function shownPath(file: string, root: string): string {
  const path = relative(root, file)
  return path.startsWith('..') ? file : path
}

export interface Selection {
  /** Globs, or regular expressions between slashes, on the scenario's name; any match keeps it. */
  readonly filters?: readonly string[]
  readonly tags?: readonly string[]
  /** Require every tag instead of any. */
  readonly allTags?: boolean
  /** Keeps scenarios up to this tier. */
  readonly tier?: number
}

/** A predicate over scenarios. Throws USAGE for an invalid filter. */
export function selectScenarios(
  selection: Selection,
): (scenario: Pick<Scenario, 'name' | 'tags' | 'tier'>) => boolean {
  const named = (selection.filters ?? []).map(nameMatcher)
  const tags = selection.tags ?? []
  return (scenario) => {
    const has = (tag: string): boolean => scenario.tags.includes(tag)
    const tagged = tags.length === 0 || (selection.allTags === true ? tags.every(has) : tags.some(has))
    const inTier = selection.tier === undefined || scenario.tier <= selection.tier
    return tagged && inTier && (named.length === 0 || named.some((matches) => matches(scenario.name)))
  }
}

function nameMatcher(filter: string): (name: string) => boolean {
  const expression = /^\/(.*)\/(i?)$/s.exec(filter)
  if (expression === null) {
    const matches = picomatch(filter, { nocase: true, bash: true })
    // A plain word matches anywhere in the name.
    return (name) =>
      matches(name) || (!/[*?[{]/.test(filter) && name.toLowerCase().includes(filter.toLowerCase()))
  }
  const compiled = compilePattern(`${expression[2] === 'i' ? '(?i)' : ''}${expression[1]}`)
  if (compiled.kind === 'bad') {
    throw new GantryError('USAGE', `--filter ${filter}: ${compiled.message}`, {
      hint:
        compiled.hint ??
        'Write a regular expression in RE2 syntax between the slashes, or a glob without them.',
    })
  }
  return (name) => compiled.pattern.test(name)
}
