import type { Project } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { GantryError } from '../core/error.ts'
import { nearest } from '../core/nearest.ts'
import { sum } from '../core/sum.ts'
import { sha256 } from '../io/sha256.ts'
import { planPairs } from '../trials/plan-pairs.ts'
import type { Case } from './case.ts'
import type { Scenario } from './schema.ts'

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

/** A plan is kept in memory and stored as one file. */
const maxTrials = 1_000_000

/** Every trial of a run in the order of `planPairs`. */
export function planTrials(
  cases: readonly { readonly case: Case; readonly combinations: readonly Combination[] }[],
  { repeat, seed }: { readonly repeat: number; readonly seed?: number },
): ScenarioTrial[] {
  const count = repeat * cases.reduce((sum, { combinations }) => sum + combinations.length, 0)
  if (count > maxTrials) {
    throw new GantryError('USAGE', `${count} trials are too many for one run`, {
      hint: `The limit is ${maxTrials}: lower --repeat, or name fewer scenarios, agents or models.`,
    })
  }
  const paired = cases.map((entry) => ({ case: entry.case.name, arms: entry.combinations, repeat }))
  return planPairs(paired, seed).map(({ case: name, arm: { agent, model }, attempt, index }) => {
    const trial = { case: name, agent, model, attempt }
    return { id: trialId(index, trial), ...trial }
  })
}

/**
 * The trials of one shard. A shard has whole cases: all agents, models and attempts of a case can be compared in it. The case that takes
 * longest goes first, each to the shard with the least work so far. `caseMs` is the mean time of a trial by case; other cases count
 * as usual ones. Without it every shard has every n-th case.
 */
export function shardTrials(
  trials: readonly ScenarioTrial[],
  { index, count }: Shard,
  caseMs: Readonly<Record<string, number>> = {},
): ScenarioTrial[] {
  const byCase = [...Map.groupBy(trials, (trial) => trial.case)]
  const known = byCase.flatMap(([name]) => (Object.hasOwn(caseMs, name) ? [caseMs[name] ?? 0] : []))
  const usualMs = known.length === 0 ? 1 : sum(known) / known.length
  const work = byCase.map(([name, { length }]) => ({
    name,
    ms: length * (Object.hasOwn(caseMs, name) ? (caseMs[name] ?? 0) : usualMs),
  }))
  const loads = Array.from({ length: Math.min(count, work.length) }, () => ({ ms: 0, cases: 0 }))
  const mine = new Set<string>()
  for (const { name, ms } of work.toSorted((a, b) => b.ms - a.ms)) {
    const least = loads.reduce((best, load) =>
      load.ms < best.ms || (load.ms === best.ms && load.cases < best.cases) ? load : best,
    )
    least.ms += ms
    least.cases += 1
    if (least === loads[index - 1]) mine.add(name)
  }
  return trials.filter((trial) => mine.has(trial.case))
}

/** The arms, or the agents: the others are compared with the first. */
export function comparedAgents(run: {
  readonly request: Pick<MatrixRequest, 'arms'>
  readonly trials: readonly ScenarioTrial[]
}): readonly string[] {
  const { request, trials } = run
  return request.arms.length > 0 ? request.arms : [...new Set(trials.map(({ agent }) => agent))]
}

/** The seed of an agent: the same for all agents and arms at one attempt at a case. */
export function trialSeed(
  seed: number,
  { case: name, attempt }: Pick<ScenarioTrial, 'case' | 'attempt'>,
): number {
  return Number.parseInt(sha256(JSON.stringify([seed, name, attempt])).slice(0, 8), 16) >>> 1
}

/** `2/5`: the second of five parts. */
export function parseShard(text: string): Shard {
  const [, index, count] = /^(\d+)\/(\d+)$/.exec(text)?.map(Number) ?? []
  if (index === undefined || count === undefined || index < 1 || index > count) {
    throw new GantryError('USAGE', `--shard ${text} is not a valid shard`, {
      hint: 'Write i/n with 1 <= i <= n, for example 2/5.',
    })
  }
  return { index, count }
}

/** Directory of a trial's cassette. Derived from the trial, not from its position in the plan, which changes with every new scenario. */
export function cassetteSegments({ case: name, agent, model, attempt }: Omit<ScenarioTrial, 'id'>): string[] {
  return [distinct(name), distinct(`${agent}-${model}`), String(attempt)]
}

/** Keeps names apart that differ only in characters that a slug drops. */
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
  readonly arms: readonly string[]
  readonly models: readonly string[]
  readonly profile?: string | undefined
  /** Used when neither flag, profile nor scenario names an agent. */
  readonly defaultAgent?: string | undefined
}

/**
 * The agents and models of a scenario. A profile or arms override everything, flags override the scenario's `tool_matrix`, and that
 * overrides the default agent.
 */
export function matrixOf(
  scenario: Scenario,
  request: MatrixRequest,
  project: Pick<Project, 'config' | 'passedIn'>,
): Combination[] {
  const combinations = wanted(scenario, request, project)
  for (const { agent, model } of combinations) checkModel(agent, model, project.config)
  return combinations
}

function wanted(
  scenario: Scenario,
  request: MatrixRequest,
  { config, passedIn }: Pick<Project, 'config' | 'passedIn'>,
): Combination[] {
  if (request.profile !== undefined) {
    const profile = config.profiles[request.profile]
    if (profile === undefined) throw unknownName('profile', request.profile, Object.keys(config.profiles))
    return cross(profile.agents, profile.models)
  }
  if (request.arms.length > 0)
    return [...new Set(request.arms)].flatMap((name) => {
      const arm = config.arms[name]
      if (arm === undefined) throw unknownName('arm', name, Object.keys(config.arms))
      return cross([name], arm.model === undefined ? request.models : [arm.model])
    })
  if (request.agents.length > 0) return cross(request.agents, request.models)
  if (scenario.tool_matrix !== undefined && scenario.tool_matrix.length > 0) {
    return scenario.tool_matrix.flatMap(({ tool, models }) =>
      cross([tool], request.models.length > 0 ? request.models : models),
    )
  }
  const agent = request.defaultAgent ?? soleAgent(Object.keys({ ...config.agents, ...passedIn?.agents }))
  return cross([agent], request.models)
}

function cross(agents: readonly string[], models: readonly string[]): Combination[] {
  const used = models.length === 0 ? ['default'] : models
  return [...new Set(agents)].flatMap((agent) => [...new Set(used)].map((model) => ({ agent, model })))
}

function soleAgent(names: readonly string[]): string {
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
  const described = config.agents[config.arms[agent]?.agent ?? agent]
  const allowed = described === undefined || !('models' in described) ? [] : described.models
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
