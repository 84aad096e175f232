import type { Config } from '../config/schema.ts'
import { GantryError } from '../core/error.ts'
import { nearest } from '../core/nearest.ts'
import { sha256 } from '../io/sha256.ts'
import type { Case } from './case.ts'
import type { Scenario } from './schema.ts'

/** One attempt that a run will make. */
export interface ScenarioTrial extends Combination {
  /** Name of the trial's directory, unique in the run. */
  readonly id: string
  readonly case: string
  /** From 1. */
  readonly attempt: number
}

export interface Shard {
  /** From 1. */
  readonly index: number
  readonly count: number
}

/** A plan is held in memory and frozen as one file. */
const maxTrials = 1_000_000

/**
 * Every trial of a run, in the order it is started: first all cases once, then all of them again, so that a run that is
 * cut short has seen as many cases as it could.
 */
export function planTrials(
  cases: readonly { readonly case: Case; readonly combinations: readonly Combination[] }[],
  { repeat, shard }: { readonly repeat: number; readonly shard?: Shard },
): ScenarioTrial[] {
  const count = repeat * cases.reduce((sum, { combinations }) => sum + combinations.length, 0)
  if (count > maxTrials) {
    throw new GantryError('USAGE', `${count} trials are too many for one run`, {
      hint: `The limit is ${maxTrials}: lower --repeat, or name fewer scenarios, agents or models.`,
    })
  }
  const all = Array.from({ length: repeat }, (_, index) => index + 1).flatMap((attempt) =>
    cases.flatMap((entry) =>
      entry.combinations.map(({ agent, model }) => ({ case: entry.case.name, agent, model, attempt })),
    ),
  )
  return all
    .map((trial, index) => ({ id: trialId(index, trial), ...trial }))
    .filter((_, index) => shard === undefined || index % shard.count === shard.index - 1)
}

/** `2/5`: the second of five parts. */
export function parseShard(text: string): Shard {
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text)?.map(Number) ?? []
  if (index === undefined || count === undefined || index < 1 || index > count) {
    throw new GantryError('USAGE', `--shard ${text} is no part of a whole`, {
      hint: 'Write i/n with 1 <= i <= n, for example 2/5.',
    })
  }
  return { index, count }
}

/** Where the cassette of a trial lies: by what it is, not by its place in the plan, which changes with every new scenario. */
export function cassetteWords({ case: name, agent, model, attempt }: Omit<ScenarioTrial, 'id'>): string[] {
  return [distinct(name), distinct(`${agent}-${model}`), String(attempt)]
}

/** Names that differ only in what a slug drops stay apart. */
function distinct(text: string): string {
  const word = slug(text).slice(0, 80)
  return word === text ? word : `${word}-${sha256(text).slice(0, 6)}`
}

function trialId(index: number, { case: name, agent, model, attempt }: Omit<ScenarioTrial, 'id'>): string {
  const words = [name, agent, model].map((word) => slug(word).slice(0, 40))
  return `${String(index + 1).padStart(4, '0')}-${words.join('-')}-${attempt}`
}

/** Safe in any file system, on any command line and in a URL. */
export function slug(text: string): string {
  return (
    text
      .normalize('NFKD')
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '') || 'x'
  )
}

export interface Combination {
  readonly agent: string
  readonly model: string
}

interface MatrixRequest {
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

function unknownName(what: string, name: string, known: readonly string[]): GantryError {
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
