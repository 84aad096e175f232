import { basename, relative, resolve } from 'node:path'
import picomatch from 'picomatch'
import { z } from 'zod'
import type { Project } from '../config/load.ts'
import { GantryError } from '../core/error.ts'
import { nearest } from '../core/nearest.ts'
import { compilePattern } from '../core/pattern.ts'
import { findFiles } from '../io/find-files.ts'
import { pathKind } from '../io/path-kind.ts'
import { readYaml, type SourceFile } from '../io/yaml.ts'
import { type Scenario, scenarioSchema } from './schema.ts'

/** Keys that only a scenario has: a rubric or an agent's script in the same folder is not taken for a broken one. */
const scenarioKeys = ['task', 'evaluation', 'template_folder']

/** The scenarios behind what the user named. A file that does not load is an error, never left out in silence. */
export async function discoverScenarios(
  named: readonly string[],
  project: Project,
  cwd: string,
): Promise<SourceFile<Scenario>[]> {
  return (await discoverFiles(named, project, cwd)).map((file) => readYaml(file, scenarioSchema))
}

/**
 * Absolute paths behind what the user named: files, directories, globs, or names of scenarios in the project. Without any,
 * those that gantry.yaml names.
 */
export async function discoverFiles(
  named: readonly string[],
  project: Project,
  cwd: string,
): Promise<string[]> {
  if (named.length > 0) {
    const files = await Promise.all(named.map((name) => filesOf(name, project, cwd)))
    return [...new Set(files.flat())]
  }
  const files = await configuredFiles(project)
  if (files.length > 0) return files
  throw new GantryError('NOT_FOUND', 'no scenarios found', {
    hint: `Looked for ${project.config.scenarios.join(', ')} in ${project.root}. Name a file or directory, or make one with 'gantry scenario new'.`,
  })
}

async function filesOf(name: string, project: Project, cwd: string): Promise<string[]> {
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
  return globbed.length > 0 ? globbed : filesByName(name, project)
}

async function filesByName(name: string, project: Project): Promise<string[]> {
  const configured = await configuredFiles(project)
  const byFile = configured.filter((file) => basename(file).replace(/\.ya?ml$/, '') === name)
  if (byFile.length > 0) return byFile
  const sources = configured.map((file) => readYaml(file, scenarioSchema))
  const byName = sources.filter((source) => source.value.name === name)
  if (byName.length > 0) return byName.map((source) => source.path)
  const close = nearest(
    name,
    sources.map((source) => source.value.name),
  )
  throw new GantryError('NOT_FOUND', `there is no scenario file, directory or name '${name}'`, {
    hint: close === undefined ? "'gantry scenario list' shows what there is." : `Did you mean '${close}'?`,
  })
}

async function configuredFiles({ config, root }: Project): Promise<string[]> {
  return (await findFiles(config.scenarios, root)).filter(looksLikeScenario)
}

/** A file that is no YAML at all stays in: whoever loads it says what is wrong with it. */
function looksLikeScenario(file: string): boolean {
  if (/^gantry\.ya?ml$/.test(basename(file))) return false
  const keys = topLevelKeys(file)
  return keys === null || scenarioKeys.some((key) => keys.includes(key))
}

function topLevelKeys(file: string): string[] | null {
  try {
    const { value } = readYaml(file, z.unknown())
    return typeof value === 'object' && value !== null ? Object.keys(value) : []
  } catch (error) {
    if (error instanceof GantryError && error.code === 'INVALID_FILE') return null
    throw error
  }
}

/** For messages and records: relative to the project when the file is inside it. */
export function shownPath(file: string, root: string): string {
  const path = relative(root, file)
  return path.startsWith('..') ? file : path
}

export interface Selection {
  /** Globs, or regular expressions between slashes, on the scenario's name; any match keeps it. */
  readonly filters?: readonly string[]
  readonly tags?: readonly string[]
  /** Demand every tag instead of any. */
  readonly allTags?: boolean
  /** Keeps scenarios up to this tier. */
  readonly tier?: number
}

/** A predicate over scenarios. Throws USAGE for a filter that is no pattern. */
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
    // A plain word is what people type to narrow a run down: it matches anywhere in the name.
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
