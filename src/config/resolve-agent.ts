import type { AgentDriver, AgentProbe } from '../agents/contract.ts'
import { type AgentConfig, createAgent } from '../agents/index.ts'
import { GantryError } from '../core/error.ts'
import { expandVariables } from '../core/expand.ts'
import { nearest } from '../core/nearest.ts'
import { fileProblem } from '../io/yaml.ts'
import type { Project } from './load.ts'

/** An agent that can be run: its driver, and the environment it is owed besides the hermetic one. */
export interface ResolvedAgent {
  readonly name: string
  readonly driver: AgentDriver
  readonly probe: AgentProbe
  /** `env` of the configuration, expanded. */
  readonly env: Readonly<Record<string, string>>
  /** Variables taken over from the caller. */
  readonly inheritEnv: readonly string[]
  /** `host`: the agent works with the caller's HOME. */
  readonly home: 'isolated' | 'host'
}

export interface AgentSurroundings {
  readonly project: Project
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** What a probe sees: PATH and the like. */
  readonly probeEnv: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/**
 * The agent behind a name of gantry.yaml, or behind `scripted:PATH`, which needs no configuration. Throws when it is
 * not described, not installed, or lacks a variable: before any trial, so that nothing is half done.
 */
export async function resolveAgent(name: string, surroundings: AgentSurroundings): Promise<ResolvedAgent> {
  const { project, cwd, env, probeEnv, signal } = surroundings
  const inline = /^scripted:(.+)$/.exec(name)?.[1]
  const settings: AgentConfig | undefined =
    inline === undefined ? project.config.agents[name] : { driver: 'scripted', script: inline, models: [] }
  if (settings === undefined) throw unknownAgent(name, project)
  const driver = createAgent(name, settings, { base: inline === undefined ? project.root : cwd })
  const expanded = 'env' in settings ? expandAll(name, settings.env, surroundings) : {}
  const inheritEnv = 'inherit_env' in settings ? settings.inherit_env : []
  const inherited = Object.fromEntries(
    inheritEnv.flatMap((key) => (env[key] === undefined ? [] : [[key, env[key]]])),
  )
  const probe = await driver.probe({ env: { ...probeEnv, ...inherited, ...expanded }, signal })
  if (!probe.found) {
    throw new GantryError(
      'NOT_FOUND',
      `agent '${name}' cannot be used: ${probe.problem ?? 'it was not found'}`,
      {
        ...(project.source !== null &&
          inline === undefined && { at: project.source.positionOf(['agents', name]) }),
      },
    )
  }
  return {
    name,
    driver,
    probe,
    env: expanded,
    inheritEnv,
    home: 'home' in settings ? settings.home : 'isolated',
  }
}

function expandAll(
  agent: string,
  values: Readonly<Record<string, string>>,
  { project, env }: AgentSurroundings,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => {
      const { text, missing } = expandVariables(value, env)
      if (missing.length === 0 || project.source === null) return [name, text]
      throw fileProblem(
        project.source,
        ['agents', agent, 'env', name],
        `agent '${agent}' needs the variable ${missing.join(', ')}, which is not set`,
        `Export ${missing[0]} before the run.`,
      )
    }),
  )
}

function unknownAgent(name: string, { config, source }: Project): GantryError {
  const known = Object.keys(config.agents)
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
