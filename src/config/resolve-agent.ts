import { resolve } from 'node:path'
import type { AgentDriver, AgentProbe } from '../agents/contract.ts'
import { type AgentConfig, agentSchema, createAgent } from '../agents/index.ts'
import { type AgentDefinition, readAgentDefinition } from '../agents/module/define-agent.ts'
import { createPassedAgent } from '../agents/module/module.ts'
import { GantryError } from '../core/error.ts'
import { expandVariables } from '../core/expand.ts'
import { nearest } from '../core/nearest.ts'
import { isDirectory, pathKind } from '../io/path-kind.ts'
import { fileProblem, readYaml, type SourceFile } from '../io/yaml.ts'
import { parseYamlSource } from '../io/yaml-source.ts'
import { type BoundaryScript, boundaryScriptSchema } from '../models/boundary/script/schema.ts'
import type { ArmConfig } from './arm-schema.ts'
import type { Project } from './load.ts'
import { modelOpener } from './model-opener.ts'

/** An agent that can be run: its driver, and its environment besides the hermetic one. */
export interface ResolvedAgent {
  readonly name: string
  readonly driver: AgentDriver
  readonly probe: AgentProbe
  /** `env` of the configuration, expanded. */
  readonly env: Readonly<Record<string, string>>
  /** Variables inherited from the caller, besides those of `driver.modelAccess`. */
  readonly inheritEnv: readonly string[]
  /** The variables of `driver.modelAccess` that are set, by the caller or by the configuration. */
  readonly credentials: Readonly<Record<string, string>>
  /** `host`: the agent uses the caller's HOME. */
  readonly home: 'isolated' | 'host'
  /** The script that answers instead of its model. */
  readonly modelScript: SourceFile<BoundaryScript> | null
  readonly meter: 'auto' | 'always' | 'never'
  /** What an arm changes besides the settings of its agent. */
  readonly arm?: ResolvedArm
  /**
   * A driver of the same agent with other settings, for callers that change them between sessions. Relative paths start at
   * `base`.
   */
  readonly withSettings?: (change: (settings: AgentConfig, base: string) => AgentConfig) => AgentDriver
}

export interface ResolvedArm {
  /** Absolute path of the files that are laid over every template. */
  readonly overlay: string | null
  /** Settings of the guard, which is in the agent's hooks; null: the agent works without it. */
  readonly guard: Readonly<Record<string, unknown>> | null
}

export interface AgentSurroundings {
  readonly project: Project
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The environment of a probe: PATH and similar variables. */
  readonly probeEnv: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  /** The home of an agent whose description sets none. Default: isolated. */
  readonly homeUnlessSaid?: 'isolated' | 'host'
}

/**
 * The agent with a name of gantry.yaml; the name of a driver and `scripted:PATH` need no configuration. Throws before any trial
 * when the agent is not described, not installed, or lacks a variable.
 */
export async function resolveAgent(name: string, surroundings: AgentSurroundings): Promise<ResolvedAgent> {
  const { project, cwd, env, probeEnv, signal } = surroundings
  const { homeUnlessSaid = 'isolated' } = surroundings
  const arm = project.config.arms[name]
  const passedIn = project.passedIn?.agents?.[arm?.agent ?? name]
  if (passedIn !== undefined) {
    const resolved = await resolvePassedAgent(name, passedIn, surroundings)
    return { ...resolved, ...(arm !== undefined && { arm: resolveArm(name, arm, project) }) }
  }
  const described = describeAgent(name, project, cwd)
  const { base, place } = described
  const settings = withHome(
    described.settings,
    saidHome(place, described.settings, project) ?? homeUnlessSaid,
  )
  const create = (config: AgentConfig): AgentDriver =>
    createAgent(name, config, { base, openModel: modelOpener(project) })
  const driver = create(settings)
  const expanded = 'env' in settings ? expandAll(place, settings.env, surroundings) : {}
  const inheritEnv = 'inherit_env' in settings ? settings.inherit_env : []
  const credentials = pick({ ...env, ...expanded }, driver.modelAccess?.credentials ?? [])
  const probe = await driver.probe({
    env: { ...probeEnv, ...pick(env, inheritEnv), ...credentials, ...expanded },
    signal,
  })
  if (!probe.found) {
    throw new GantryError(
      'NOT_FOUND',
      `agent '${name}' cannot be used: ${probe.problem ?? 'it was not found'}`,
      {
        ...(probe.hint !== undefined && { hint: probe.hint }),
        ...(project.source !== null && place.length > 0 && { at: project.source.positionOf(place) }),
      },
    )
  }
  const script = 'model_script' in settings ? settings.model_script : undefined
  return {
    name,
    driver,
    probe,
    env: expanded,
    inheritEnv,
    credentials,
    home: 'home' in settings ? settings.home : homeUnlessSaid,
    modelScript: script === undefined ? null : readModelScript(resolve(base, script), place, project),
    meter: 'meter' in settings ? settings.meter : 'never',
    ...(arm !== undefined && { arm: resolveArm(name, arm, project) }),
    withSettings: (change) => create(change(settings, base)),
  }
}

/** A file that is missing is reported at the line that names it. */
function readModelScript(
  path: string,
  place: readonly string[],
  { source }: Project,
): SourceFile<BoundaryScript> {
  if (pathKind(path) === null && source !== null)
    throw fileProblem(source, [...place, 'model_script'], `${path} does not exist`)
  return readYaml(path, boundaryScriptSchema)
}

/** An agent that a caller of the library passed in: its code runs in the caller's own process. */
async function resolvePassedAgent(
  name: string,
  value: AgentDefinition,
  { env, probeEnv, signal, homeUnlessSaid = 'isolated' }: AgentSurroundings,
): Promise<ResolvedAgent> {
  const definition = readAgentDefinition(value)
  if (typeof definition === 'string')
    throw new GantryError('USAGE', `the agent '${name}' cannot be used: ${definition}`, {
      hint: 'Make it with defineAgent({ name, run }).',
    })
  const driver = createPassedAgent(name, definition)
  return {
    name,
    driver,
    probe: await driver.probe({ env: probeEnv, signal }),
    env: {},
    inheritEnv: [],
    credentials: pick(env, driver.modelAccess?.credentials ?? []),
    home: homeUnlessSaid,
    modelScript: null,
    meter: 'auto',
  }
}

interface DescribedAgent {
  readonly settings: AgentConfig
  readonly base: string
  /** Where gantry.yaml describes it; empty when it does not. */
  readonly place: readonly string[]
}

function describeAgent(name: string, project: Project, cwd: string): DescribedAgent {
  const { agents, arms } = project.config
  const arm = arms[name]
  if (arm !== undefined) return varied(name, arm, describeAgent(arm.agent, project, cwd), project)
  const described = agents[name]
  if (described !== undefined) return { settings: described, base: project.root, place: ['agents', name] }
  const script = /^scripted:(.+)$/.exec(name)?.[1]
  const bare = agentSchema.safeParse(script === undefined ? { driver: name } : { driver: 'scripted', script })
  if (!bare.success) throw unknownAgent(name, project)
  return { settings: bare.data, base: cwd, place: [] }
}

function varied(
  name: string,
  { agent, model, overlay, guard, env, ...keys }: ArmConfig,
  { settings, base }: DescribedAgent,
  project: Project,
): DescribedAgent {
  const own = 'env' in settings ? settings.env : {}
  const changed = { ...settings, ...keys, ...(env !== undefined && { env: { ...own, ...env } }) }
  const parsed = agentSchema.safeParse({ ...changed, driver: settings.driver })
  if (parsed.success && !('driver' in keys)) return { settings: parsed.data, base, place: ['arms', name] }
  const [issue] = parsed.error?.issues ?? []
  const [unknown] = issue?.code === 'unrecognized_keys' ? issue.keys : []
  const close = nearest(unknown ?? '', [...Object.keys(settings), 'agent', 'model', 'overlay', 'guard'])
  throw 'driver' in keys
    ? armProblem(name, ['driver'], 'an arm keeps the driver of its agent: name another agent', project)
    : unknown === undefined
      ? armProblem(name, issue?.path ?? [], issue?.message ?? 'is wrong', project)
      : armProblem(
          name,
          [unknown],
          `'${agent}' has no key '${unknown}'${close === undefined ? '' : `, did you mean '${close}'?`}`,
          project,
        )
}

function resolveArm(name: string, { overlay, guard }: ArmConfig, project: Project): ResolvedArm {
  const path = overlay === undefined ? null : resolve(project.root, overlay)
  if (path !== null && !isDirectory(path))
    throw armProblem(name, ['overlay'], `${path} is not a directory`, project)
  return { overlay: path, guard: guard === false ? null : guard === true ? {} : guard }
}

function armProblem(
  name: string,
  path: readonly PropertyKey[],
  message: string,
  { source }: Project,
): GantryError {
  const text = `arm '${name}': ${message}`
  return source === null ? new GantryError('USAGE', text) : fileProblem(source, ['arms', name, ...path], text)
}

/** The driver needs to know it too: it writes settings into an isolated home, but never into a user's. */
function withHome(settings: AgentConfig, home: 'isolated' | 'host'): AgentConfig {
  return 'home' in settings ? { ...settings, home } : settings
}

/** The home set in the file, before any default; null when it is not set. */
function saidHome(
  place: readonly string[],
  settings: AgentConfig,
  { source, config }: Project,
): 'isolated' | 'host' | null {
  if (source === null || place.length === 0 || !('home' in settings)) return null
  const raw = parseYamlSource(source.text, source.path)
  const base = config.arms[place[1] ?? '']?.agent
  const places = [place, ...(place[0] === 'arms' && base !== undefined ? [['agents', base]] : [])]
  return raw.kind === 'parsed' && places.some((each) => hasPath(raw.value, [...each, 'home']))
    ? settings.home
    : null
}

function hasPath(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return false
  return hasPath(Object.entries(value).find(([name]) => name === key)?.[1], rest)
}

function pick(
  env: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name]
      return value === undefined || value === '' ? [] : [[name, value]]
    }),
  )
}

function expandAll(
  place: readonly string[],
  values: Readonly<Record<string, string>>,
  { project, env }: AgentSurroundings,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const { text, missing } = expandVariables(value, env)
      if (missing.length === 0 || project.source === null) return [name, text]
      throw fileProblem(
        project.source,
        [...place, 'env', name],
        `agent '${place[1]}' needs the variable ${missing.join(', ')}, which is not set`,
        `Export ${missing[0]} before the run.`,
      )
    }),
  )
}

function unknownAgent(name: string, { config, source, passedIn }: Project): GantryError {
  const known = Object.keys({ ...config.agents, ...passedIn?.agents })
  const close = nearest(name, known)
  const hint =
    close !== undefined
      ? `Did you mean '${close}'?`
      : known.length > 0
        ? `Known: ${known.join(', ')}.`
        : source === null
          ? 'Describe it under agents: in a gantry.yaml, or use scripted:PATH.'
          : `Describe it under agents: in ${source.path}.`
  return new GantryError('NOT_FOUND', `no agent '${name}'`, { hint })
}
