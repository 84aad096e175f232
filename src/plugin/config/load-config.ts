import { resolve } from 'node:path'
import type { z } from 'zod'
import type { Project } from '../../config/load.ts'
import type { GantryError, SourcePosition } from '../../core/error.ts'
import { isDirectory } from '../../io/path-kind.ts'
import { schemaProblems } from '../../io/schema-problems.ts'
import { selectModel } from '../../models/select-model.ts'
import { checkCustomPatterns } from '../sanitize/check-custom-patterns.ts'
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
import {
  agentModelName,
  apiModelName,
  expectedAgentModel,
  takesTemperature,
  thinksAdaptively,
} from './model-names.ts'
import { type PluginOverrides, readOverrides } from './overrides.ts'
import { readPluginVariables, unknownVariables } from './plugin-variables.ts'
import {
  type ConfigFile,
  type ConfigProblem,
  configOfProject,
  configProblem,
  findUsualConfig,
  readConfigFile,
} from './read-config-file.ts'

export interface LoadConfigOptions {
  /** Of `--config`. Without it `plugin:` of the project is used, else a `config.yaml` of cc-plugin-eval in `cwd`. */
  readonly file?: string
  readonly project?: Project
  /** Settings that were read already; then no file is read. */
  readonly settings?: ConfigFile
  readonly env: Readonly<Record<string, string | undefined>>
  readonly flags: PluginOverrides
  readonly cwd: string
}

/**
 * The configuration of an evaluation: flags over environment over file over defaults, key by key. Throws GantryError with every
 * problem, each with its file and line, variable or flag.
 */
export function loadConfigWithOverrides(options: LoadConfigOptions) {
  const { env, cwd } = options
  const file = fileOf(options)
  const inFile = file === null ? [] : absolutePaths(entriesIn(file), file.base)
  const inEnvironment = absolutePaths(readPluginVariables(env), cwd)
  const flags = readOverrides(options.flags)
  const before = joinLayers(inFile, inEnvironment, flags)
  const joined = joinLayers(inFile, inEnvironment, absolutePaths(pluginByName(flags, before, cwd), cwd))
  const { config, warnings, problems } = settleConfig(checked(joined, file), joined.sources, env)
  if (problems.length > 0)
    throw problemOf(
      problems.map(({ path, text }) => ({ at: positionIn(joined.sources, file, path), text })),
      file,
    )
  return {
    /** Paths are absolute, model names are complete. */
    config,
    /** The source of each key; a key that is missing here has its default. */
    sources: joined.sources as ConfigSources,
    /** The file that was read; null when there is none. */
    file: file?.path ?? null,
    warnings: [...warnings, ...unknownVariables(env)],
  }
}

function fileOf({ file, project, settings, cwd }: LoadConfigOptions): ConfigFile | null {
  if (settings !== undefined) return settings
  if (file !== undefined) return readConfigFile(resolve(cwd, file))
  const inProject = project === undefined ? null : configOfProject(project)
  if (inProject !== null) return inProject
  const usual = findUsualConfig(cwd)
  return usual === null ? null : readConfigFile(usual)
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
  if (source.kind === 'file') return source.at.file
  return source.kind === 'flag' ? source.flag : source.variable
}

interface SettledConfig {
  readonly config: PluginConfig
  readonly warnings: readonly string[]
  readonly problems: readonly { readonly path: readonly PropertyKey[]; readonly text: string }[]
}

/** Resolves keys that depend on each other: strategy, tools and models as every stage uses them. */
function settleConfig(
  config: PluginConfig,
  sources: ConfigSources,
  env: LoadConfigOptions['env'],
): SettledConfig {
  const { generation, execution, evaluation, output } = config
  const { session_isolation: isolation, session_strategy: strategy, ...rest } = execution
  const agentModel = agentModelName(execution.model)
  const saysTools = sources.has('execution.disallowed_tools')
  const settled: PluginConfig = {
    ...config,
    generation: { ...generation, model: apiModelName(generation.model) },
    execution: {
      ...rest,
      model: agentModel ?? execution.model,
      session_strategy: strategy ?? (isolation === true ? 'isolated' : 'batched_by_component'),
      disallowed_tools: saysTools ? execution.disallowed_tools : withoutAllowed(execution),
    },
    evaluation: { ...evaluation, model: apiModelName(evaluation.model) },
  }
  return {
    config: settled,
    warnings: [...warningsAbout(config, settled, sources, env)],
    problems: [
      ...(agentModel === null ? [otherProvider(execution.model)] : []),
      ...(saysTools ? contradictions(execution) : []),
      ...checkCustomPatterns(output.sanitization).map(({ index, text }) => ({
        path: ['output', 'sanitization', 'custom_patterns', index, 'pattern'],
        text: `output.sanitization.custom_patterns[${index}]: ${text}`,
      })),
    ],
  }
}

function otherProvider(model: string): SettledConfig['problems'][number] {
  const text = `execution.model: Claude Code cannot use '${model}'; use an Anthropic model: opus, sonnet, haiku, or a full name`
  return { path: ['execution', 'model'], text }
}

/** The default list must not disallow what the user allows. */
function withoutAllowed({ allowed_tools, disallowed_tools }: PluginConfig['execution']): string[] {
  const allowed = new Set(allowed_tools.map(toolName))
  return disallowed_tools.filter((tool) => !allowed.has(tool))
}

/** `Bash(git *)` is a rule about Bash. */
function toolName(rule: string): string {
  return /^[^(]*/.exec(rule)?.[0].trim() ?? rule
}

function contradictions({
  allowed_tools,
  disallowed_tools,
}: PluginConfig['execution']): SettledConfig['problems'] {
  return disallowed_tools.flatMap((tool, index) => {
    const text = `execution.disallowed_tools: ${tool} is also in execution.allowed_tools; keep it in only one of them`
    return allowed_tools.includes(tool) ? [{ path: ['execution', 'disallowed_tools', index], text }] : []
  })
}

/** Keys that are deprecated, or are set and cannot act, in most cases because of the chosen model. */
function* warningsAbout(
  config: PluginConfig,
  settled: PluginConfig,
  sources: ConfigSources,
  env: LoadConfigOptions['env'],
): Generator<string> {
  const { session_isolation: isolation, session_strategy: strategy } = config.execution
  if (isolation !== undefined)
    yield `execution.session_isolation is deprecated: write session_strategy: ${isolation ? 'isolated' : 'batched_by_component'}${strategy === undefined ? '' : `; session_strategy: ${strategy} is used`}`
  const { sanitize_transcripts, sanitize_logs, sanitization } = config.output
  const hidesMore = sanitization.enabled || sanitization.custom_patterns.length > 0
  if ((sanitize_transcripts || sanitize_logs) && !hidesMore)
    yield 'output.sanitize_transcripts and sanitize_logs only cap long texts unless output.sanitization.enabled is true or custom_patterns are set; secrets are always hidden'
  if (sources.has('tuning.timeouts.sdk_token_counting_ms'))
    yield 'tuning.timeouts.sdk_token_counting_ms has no effect: estimates come from tuning.token_estimates, not from the network'
  const { execution } = settled
  const agentModel = expectedAgentModel(execution.model, execution.env)
  if (sources.has('execution.max_thinking_tokens') && thinksAdaptively(agentModel, execution.env))
    yield `execution.max_thinking_tokens has no effect: ${agentModel} decides by itself how much it thinks. Remove the key, or choose a model such as sonnet-4.5`
  for (const stage of ['generation', 'evaluation'] as const) {
    const { model, reasoning_effort: effort } = settled[stage]
    const name = model === 'default' ? (selectModel(env) ?? '') : model
    if (!sources.has(`${stage}.temperature`) || !name.startsWith('anthropic:')) continue
    if (!takesTemperature(name))
      yield `${stage}.temperature has no effect: ${name} takes no temperature. Remove the key`
    else if (effort !== 'none')
      yield `${stage}.temperature has no effect while ${stage}.reasoning_effort is ${effort}: a model that thinks takes no temperature. Set reasoning_effort: none, or remove the key`
  }
}
