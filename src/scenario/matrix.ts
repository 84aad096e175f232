import type { Config } from '../config/schema.ts'
import { GantryError } from '../core/error.ts'
import { nearest } from '../core/nearest.ts'
import type { Scenario } from './schema.ts'

export interface Combination {
  readonly agent: string
  readonly model: string
}

export interface MatrixRequest {
  readonly agents: readonly string[]
  readonly models: readonly string[]
  readonly profile?: string | undefined
  /** What is used when neither flag, profile nor scenario names an agent. */
  readonly defaultAgent?: string | undefined
}

/**
 * Which agents with which models a scenario is tried. A profile wins over everything, flags win over the scenario's own
 * `tool_matrix`, and that over the default agent.
 */
export function matrixOf(scenario: Scenario, request: MatrixRequest, config: Config): Combination[] {
  const combinations = wanted(scenario, request, config)
  for (const { agent, model } of combinations) checkModel(agent, model, config)
  return combinations
}

function wanted(scenario: Scenario, request: MatrixRequest, config: Config): Combination[] {
  if (request.profile !== undefined) {
    const profile = config.profiles[request.profile]
    if (profile === undefined) throw unknownName('profile', request.profile, Object.keys(config.profiles))
    return cross(profile.agents, profile.models)
  }
  if (request.agents.length > 0) return cross(request.agents, request.models)
  if (scenario.tool_matrix !== undefined && scenario.tool_matrix.length > 0) {
    return scenario.tool_matrix.flatMap(({ tool, models }) =>
      cross([tool], request.models.length > 0 ? request.models : models),
    )
  }
  const agent = request.defaultAgent ?? soleAgent(config)
  return cross([agent], request.models)
}

function cross(agents: readonly string[], models: readonly string[]): Combination[] {
  const used = models.length === 0 ? ['default'] : models
  return [...new Set(agents)].flatMap((agent) => [...new Set(used)].map((model) => ({ agent, model })))
}

function soleAgent(config: Config): string {
  const names = Object.keys(config.agents)
  const [only] = names
  if (only !== undefined && names.length === 1) return only
  throw new GantryError('USAGE', 'no agent was named', {
    hint:
      only === undefined
        ? 'Describe one under agents: in gantry.yaml and name it with --agent.'
        : `Name one with --agent: ${names.join(', ')}.`,
  })
}

function checkModel(agent: string, model: string, config: Config): void {
  const allowed = config.agents[agent]?.models ?? []
  if (model === 'default' || allowed.length === 0 || allowed.includes(model)) return
  throw new GantryError('USAGE', `agent '${agent}' has no model '${model}'`, {
    hint: `gantry.yaml lists ${allowed.join(', ')} for it.`,
  })
}

export function unknownName(what: string, name: string, known: readonly string[]): GantryError {
  const close = nearest(name, known)
  return new GantryError('NOT_FOUND', `no ${what} '${name}'`, {
    hint:
      close !== undefined
        ? `Did you mean '${close}'?`
        : known.length === 0
          ? `gantry.yaml describes no ${what}s.`
          : `Known: ${known.join(', ')}.`,
  })
}
