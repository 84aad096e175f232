import { resolve } from 'node:path'
import type { z } from 'zod'
import type { Project } from '../../config/load.ts'
import type { GantryError, SourcePosition } from '../../core/error.ts'
import { isDirectory } from '../../io/path-kind.ts'
import { schemaProblems } from '../../io/schema-problems.ts'
import { type PluginConfig, pluginConfigSchema } from './keys/schema.ts'
import {
  absolutePaths,
  type ConfigEntry,
  type ConfigSource,
  type ConfigSources,
  type JoinedLayers,
  joinLayers,
  leavesOf,
  sourceOf,
} from './layers.ts'
import { type PluginOverrides, readOverrides } from './overrides.ts'
import { readPluginVariables, unknownVariables } from './plugin-variables.ts'
import {
  type ConfigFile,
  type ConfigProblem,
  configOfProject,
  configProblem,
  readConfigFile,
} from './read-config-file.ts'
import { settleConfig } from './settle-config.ts'

export interface LoadConfigOptions {
  /** Of `--config`. Without it `plugin:` of the project is used, and no other file is searched. */
  readonly file?: string
  readonly project?: Project
  readonly env: Readonly<Record<string, string | undefined>>
  readonly flags: PluginOverrides
  readonly cwd: string
}

export interface LoadedConfig {
  /** Paths are absolute, model names are complete. */
  readonly config: PluginConfig
  /** The source of each key; a key that is missing here has its default. */
  readonly sources: ConfigSources
  /** The file it came from; null when there is none. */
  readonly file: string | null
  readonly warnings: readonly string[]
}

/**
 * The configuration of an evaluation: flags over environment over file over defaults, key by key. Throws GantryError with every
 * problem, each with its file and line, variable or flag.
 */
export function loadConfigWithOverrides(options: LoadConfigOptions): LoadedConfig {
  const { project, env, cwd } = options
  const file =
    options.file === undefined
      ? project === undefined
        ? null
        : configOfProject(project)
      : readConfigFile(resolve(cwd, options.file))
  const inFile = file === null ? [] : absolutePaths(entriesIn(file), file.base)
  const inEnvironment = absolutePaths(readPluginVariables(env), cwd)
  const flags = readOverrides(options.flags)
  const before = joinLayers(inFile, inEnvironment, flags)
  const joined = joinLayers(inFile, inEnvironment, absolutePaths(pluginByName(flags, before, cwd), cwd))
  const { config, warnings, problems } = settleConfig(checked(joined, file), joined.sources)
  if (problems.length > 0)
    throw problemOf(
      problems.map(({ path, text }) => ({ at: positionIn(joined.sources, file, path), text })),
      file,
    )
  return {
    config,
    sources: joined.sources,
    file: file?.path ?? null,
    warnings: [...warnings, ...unknownVariables(env)],
  }
}

function entriesIn(file: ConfigFile): readonly ConfigEntry[] {
  return leavesOf(file.value, (path) => ({ kind: 'file', at: file.positionOf(path) }))
}

/** With a marketplace, `--plugin` may be the name of one of its plugins instead of a directory. */
function pluginByName(
  flags: readonly ConfigEntry[],
  { value }: JoinedLayers,
  cwd: string,
): readonly ConfigEntry[] {
  return flags.flatMap((entry) => {
    const isPlugin = entry.path.join('.') === 'plugin.path' && typeof entry.value === 'string'
    if (!isPlugin || value.marketplace === undefined || /[/\\]/.test(entry.value)) return [entry]
    if (isDirectory(resolve(cwd, entry.value))) return [entry]
    return [
      { ...entry, path: ['plugin', 'path'], value: undefined },
      { ...entry, path: ['plugin', 'name'] },
    ]
  })
}

function checked({ value, sources }: JoinedLayers, file: ConfigFile | null): PluginConfig {
  const result = pluginConfigSchema.safeParse(value)
  if (result.success) return result.data
  const positionOf = (path: readonly PropertyKey[]): SourcePosition => positionIn(sources, file, path)
  const problems = schemaProblems(
    pluginConfigSchema,
    { kind: 'parsed', text: '', value, positionOf, keyPositionOf: positionOf },
    result.error.issues,
  )
  throw problemOf(problems, file, result.error)
}

function problemOf(
  problems: readonly ConfigProblem[],
  file: ConfigFile | null,
  cause?: z.core.$ZodError,
): GantryError {
  const isFiles = problems.some(({ at }) => at.file === file?.path)
  return configProblem(problems, isFiles ? 'file' : 'input', cause)
}

function positionIn(
  sources: ConfigSources,
  file: ConfigFile | null,
  path: readonly PropertyKey[],
): SourcePosition {
  const source = sourceOf(sources, path)
  if (source?.kind === 'file' && file !== null) return file.positionOf(path)
  return { file: source === null ? 'the configuration of the evaluation' : nameOf(source) }
}

function nameOf(source: ConfigSource): string {
  switch (source.kind) {
    case 'file':
      return source.at.file
    case 'environment':
      return source.variable
    case 'flag':
      return source.flag
  }
}
