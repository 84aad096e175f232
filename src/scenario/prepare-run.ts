import { join, relative, resolve } from 'node:path'
import { hooksOfDriver } from '../agents/index.ts'
import { loadProject, type PassedIn, type Project } from '../config/load.ts'
import { type ResolvedAgent, resolveAgent } from '../config/resolve-agent.ts'
import { counted } from '../core/counted.ts'
import { GantryError } from '../core/error.ts'
import { expandValues } from '../core/expand.ts'
import { nearest } from '../core/nearest.ts'
import { createRedaction } from '../core/redaction.ts'
import { hermeticEnv } from '../io/hermetic-env.ts'
import { prepareSpawning } from '../io/spawn-client.ts'
import { temporaryDirectory } from '../io/temporary-directory.ts'
import { fileProblem } from '../io/yaml.ts'
import { preflightAgents } from '../model-link/choose-model-link.ts'
import { hasCassette } from '../models/boundary/cassette/read-cassette-index.ts'
import { parseFault } from '../models/boundary/faults.ts'
import { type Budget, createBudget } from '../models/budget.ts'
import type { Model } from '../models/contract.ts'
import { resolveModel } from '../models/index.ts'
import { builtInPrices } from '../models/prices.ts'
import { groupOf } from '../report/case-verdict.ts'
import { type Case, isPairwise } from './case.ts'
import { planJudgeBatch } from './judge-batch.ts'
import { loadScenarios } from './load-case.ts'
import { type ArmOverlay, readOverlays } from './overlays.ts'
import {
  type Combination,
  cassetteSegments,
  matrixOf,
  planTrials,
  type ScenarioTrial,
  shardTrials,
} from './plan.ts'
import type { RunRequest } from './request.ts'
import {
  caseHashes,
  groupKey,
  planIdentity,
  type TargetIdentity,
  targetIdentities,
  templateHashes,
  trialKey,
} from './trial-key.ts'

type Env = Readonly<Record<string, string | undefined>>

/** A run that is ready to start: everything resolved, checked and hashed, nothing spent. */
export type PreparedRun = Awaited<ReturnType<typeof prepareRun>>

/** What a worker sets: it plans the trials of one agent, and keeps all that it writes in a directory of its own. */
export interface OfWorker {
  readonly onlyAgent: string
  readonly temporary: string
}

export async function prepareRun(
  request: RunRequest,
  hostEnv: Env,
  signal: AbortSignal,
  passedIn: PassedIn = {},
  { onlyAgent, temporary }: Partial<OfWorker> = {},
) {
  // Copied once: every trial reads it, and each access of `process.env` is a system call.
  const env: Env = { ...hostEnv }
  prepareSpawning()
  const project: Project = { ...loadProject(request.cwd, request.configFile), passedIn }
  const cases = await loadCases(request, project, env)
  const combinations = cases.map((entry) => ({
    case: entry,
    combinations: matrixOf(entry.scenario, request, project).filter(
      ({ agent }) => onlyAgent === undefined || agent === onlyAgent,
    ),
  }))
  using scratch = temporaryDirectory('gantry-probe-', temporary)
  const probeEnv = hermeticEnv({ host: env, home: scratch.path, tmp: scratch.path, inherit: [], extra: {} })
  const agents = new Map<string, ResolvedAgent>()
  for (const name of agentNames(combinations)) {
    agents.set(name, await resolveAgent(name, { project, cwd: request.cwd, env, probeEnv, signal }))
  }
  const budget = createBudget(request.maxCostUsd ?? null)
  const judge = await resolveJudge(
    cases.filter((entry) => agents.size > 1 || !isPairwise(entry)),
    request,
    project,
    budget,
    env,
  )
  const targets = new Map<string, TargetIdentity>()
  const identityOf = targetIdentities(probeEnv, scratch.path, signal)
  for (const entry of cases) targets.set(entry.name, await identityOf(entry))
  const planned = planTrials(combinations, {
    repeat: request.repeat,
    ...(request.arms.length > 1 && { seed: request.seed }),
  }).filter((trial) => isWanted(trial, request))
  const trials = request.shard === undefined ? planned : shardTrials(planned, request.shard, request.caseMs)
  const templates = templateHashes(cases)
  refuseUnguarded(agents, project)
  const overlays = readOverlays(agents, cases)
  refuseEqualArms(trials, agents, overlays)
  const keyOf = trialKeys({ cases, agents, targets, templates, overlays, request, env })
  const modelLink = preflightAgents(agents.values(), request)
  for (const entry of combinations) refuseBlindGates(entry, agents)
  const byName = new Map(cases.map((entry) => [entry.name, entry]))
  return {
    request,
    project,
    env,
    cases: byName,
    agents,
    targets,
    judge,
    /** null: the judge is called trial by trial. */
    judgeBatch: planJudgeBatch(request.judgeBatch, judge?.name ?? null, trials, byName, env),
    budget,
    trials,
    /** The trials of all shards. */
    planned,
    /** What all shards of a run must agree on, as hashes by what they are of. */
    identity: planIdentity({ request, planned, cases, agents, targets, templates, overlays }),
    /** Cache key of a trial: changes with everything that could change its result. */
    keyOf,
    /** By the name of the case. */
    caseHashes: caseHashes(cases, request, templates),
    redaction: createRedaction(
      project.config.redact,
      env,
      ...cases.map(({ target }) => expandValues(target.env, env)),
      ...[...agents.values()].map((agent) => agent.env),
    ),
    /** Model links by agent; an agent that is not listed calls its provider directly. */
    modelLink,
    /** The user's prices, overriding the built-in ones. */
    prices: { ...builtInPrices, ...project.config.models },
    faults:
      request.faults.length === 0 ? null : { faults: request.faults.map(parseFault), seed: request.seed },
  }
}

async function loadCases(request: RunRequest, project: Project, env: Env): Promise<Case[]> {
  const { filters, tags, allTags, tier, cwd, targetBinary } = request
  const selection = { filters, tags, allTags, ...(tier !== undefined && { tier }) }
  const options = { project, cwd, env, ...(targetBinary !== undefined && { targetBinary }) }
  const { cases, found, tags: known } = await loadScenarios(request.paths, selection, options)
  if (cases.length === 0) {
    const near = tags.filter((tag) => !known.includes(tag)).flatMap((tag) => nearest(tag, known) ?? [])
    throw new GantryError('NOT_FOUND', `none of ${counted(found, 'scenario')} matches the filters`, {
      hint:
        near.length > 0
          ? `Did you mean --tag ${near.join(' --tag ')}?`
          : "'gantry scenario list' shows names, tags and tiers.",
    })
  }
  refuseTwins(cases)
  return cases
}

function refuseTwins(cases: readonly Case[]): void {
  const seen = new Map<string, Case>()
  for (const entry of cases) {
    const twin = seen.get(entry.name)
    if (twin !== undefined) {
      throw new GantryError(
        'INVALID_FILE',
        `two scenarios are called '${entry.name}': ${twin.shownFile} and ${entry.shownFile}`,
        { at: entry.source.positionOf(['name']), hint: 'Give each scenario a unique name.' },
      )
    }
    seen.set(entry.name, entry)
  }
}

/** A gate about tools can neither pass nor fail when the agent's output does not show them. */
function refuseBlindGates(
  { case: entry, combinations }: { readonly case: Case; readonly combinations: readonly Combination[] },
  agents: ReadonlyMap<string, ResolvedAgent>,
): void {
  const blind = combinations.find(({ agent }) => agents.get(agent)?.driver.reportsTools === false)
  const index = entry.scenario.evaluation.gates.findIndex(({ type }) => type === 'tool_called')
  if (blind === undefined || index === -1) return
  throw new GantryError(
    'INVALID_FILE',
    `the gate tool_called needs to see the tools that '${blind.agent}' uses, but its output is text`,
    {
      at: entry.source.positionOf(['evaluation', 'gates', index]),
      hint: 'Give the agent another `output` in gantry.yaml (events, claude-stream-json or codex-json), choose another agent, or remove the gate.',
    },
  )
}

export function cassetteOf(
  { request, project }: Pick<PreparedRun, 'request' | 'project'>,
  trial: ScenarioTrial,
): string {
  const { cassettes, cwd } = request
  const directory =
    cassettes === undefined ? resolve(project.root, project.config.cassettes_path) : resolve(cwd, cassettes)
  return join(directory, ...cassetteSegments(trial))
}

/** Before a new run: without its cassette a trial could only be invalid. */
export function refuseMissingCassettes(prepared: PreparedRun): void {
  const { request, trials, modelLink } = prepared
  if (request.replay !== 'strict') return
  const replayed = trials.filter(({ agent }) => modelLink.has(agent))
  const missing = replayed.map((trial) => cassetteOf(prepared, trial)).filter((dir) => !hasCassette(dir))
  if (missing.length === 0) return
  const shown = missing.slice(0, 5).map((dir) => relative(request.cwd, dir))
  const more = missing.length > 5 ? ` and ${missing.length - 5} more` : ''
  throw new GantryError(
    'NOT_FOUND',
    `${missing.length} of ${counted(replayed.length, 'trial')} cannot be replayed, there is no cassette: ${shown.join(', ')}${more}`,
    { hint: 'Record with --replay auto, which calls the model only for what is missing.' },
  )
}

/** What has no effect, or proves nothing, with an agent of this run. */
export function runWarnings({ request, agents, cases, trials, modelLink }: PreparedRun): string[] {
  const isBlind = (name: string): boolean => agents.get(name)?.driver.reportsTools === false
  const uncapped = [...agents.keys()].filter((name) => isBlind(name) && !modelLink.has(name))
  const unseen = new Set(
    trials.flatMap(({ case: name, agent }) => {
      const entry = cases.get(name)
      const isInWorkspace = entry?.targetProgram === null && entry.target.binary.includes('/')
      const isJudged = entry?.scenario.evaluation.gates.some(({ type }) => type === 'no_transcript_errors')
      return isInWorkspace && isJudged === true && isBlind(agent)
        ? [
            `no_transcript_errors proves nothing in '${name}' with '${agent}': calls of ${entry.target.binary} in the workspace are not recorded, and its output is text`,
          ]
        : []
    }),
  )
  const alone = agents.size < 2 && request.judge ? [...cases.values()].find(isPairwise) : undefined
  return [
    ...(alone === undefined
      ? []
      : [`the judge of '${alone.name}' compares two arms or agents, and this run has one`]),
    ...(request.maxCostUsd === undefined || uncapped.length === 0
      ? []
      : [`--max-cost-usd has no effect on ${uncapped.join(', ')}: what it spends is unknown`]),
    ...unseen,
  ]
}

function agentNames(combinations: readonly { readonly combinations: readonly Combination[] }[]): Set<string> {
  return new Set(combinations.flatMap((entry) => entry.combinations.map(({ agent }) => agent)))
}

async function resolveJudge(
  cases: readonly Case[],
  request: RunRequest,
  project: Project,
  budget: Budget,
  env: Env,
): Promise<Model | null> {
  const judged = request.judge ? cases.find((entry) => entry.rubric !== null) : undefined
  if (judged === undefined) return null
  if (request.judgeModel === undefined) {
    throw new GantryError('USAGE', `scenario '${judged.name}' needs a judge model, but none was given`, {
      at: judged.source.positionOf(['evaluation', 'judge']),
      hint: 'Set one with --judge-model or GANTRY_JUDGE_MODEL, or skip the judge with --no-judge.',
    })
  }
  return resolveModel(request.judgeModel, { env, base: request.cwd, budget, prices: project.config.models })
}

function isWanted(trial: ScenarioTrial, { only }: RunRequest): boolean {
  return (
    only === undefined ||
    only.some(
      (wanted) =>
        wanted.case === trial.case &&
        wanted.agent === trial.agent &&
        wanted.model === trial.model &&
        wanted.attempt === trial.attempt,
    )
  )
}

/** An arm that should be guarded, but cannot be, would be compared as if it were. */
function refuseUnguarded(agents: ReadonlyMap<string, ResolvedAgent>, { source }: Project): void {
  for (const [name, { driver, arm }] of agents) {
    if (arm?.guard == null || hooksOfDriver(driver.name) !== null) continue
    const message = `arm '${name}' cannot be guarded: agents of the driver ${driver.name} have no hooks`
    throw source === null
      ? new GantryError('USAGE', message)
      : fileProblem(source, ['arms', name, 'guard'], message)
  }
}

/** Arms of the same settings could only differ by chance. */
function refuseEqualArms(
  trials: readonly ScenarioTrial[],
  agents: ReadonlyMap<string, ResolvedAgent>,
  overlays: ReadonlyMap<string, ArmOverlay>,
): void {
  const seen = new Map<string, string>()
  const arms = new Map(trials.map(({ agent, model }) => [JSON.stringify([agent, model]), { agent, model }]))
  for (const { agent: name, model } of arms.values()) {
    const agent = agents.get(name)
    if (agent?.arm === undefined) continue
    const { driver, probe, env, inheritEnv, home, modelScript, arm } = agent
    const facts = [driver.name, probe.fingerprint, env, inheritEnv, home, modelScript?.text, arm.guard]
    const identity = JSON.stringify([...facts, model, overlays.get(name)?.changes ?? []])
    const twin = seen.get(identity)
    if (twin !== undefined && twin !== name)
      throw new GantryError('USAGE', `the arms '${twin}' and '${name}' differ in nothing`, {
        hint: 'Change a key of one of them in gantry.yaml, or name other arms.',
      })
    seen.set(identity, name)
  }
}

function trialKeys(facts: {
  readonly cases: readonly Case[]
  readonly agents: ReadonlyMap<string, ResolvedAgent>
  readonly targets: ReadonlyMap<string, TargetIdentity>
  readonly templates: ReadonlyMap<string, string>
  readonly overlays: ReadonlyMap<string, ArmOverlay>
  readonly request: RunRequest
  readonly env: Env
}): (trial: ScenarioTrial) => string | null {
  const { agents, targets, templates, overlays, request, env } = facts
  const cases = new Map(facts.cases.map((entry) => [entry.name, entry]))
  // The keys of all trials would be most of a large plan.
  const groups = new Map<string, string>()
  return (planned) => {
    const entry = cases.get(planned.case)
    const agent = agents.get(planned.agent)
    const target = targets.get(planned.case)
    if (entry === undefined || agent === undefined || target === undefined) return null
    const name = groupOf(planned)
    const template = templates.get(entry.templateDir) ?? ''
    const overlay = overlays.get(planned.agent)?.hash
    const group =
      groups.get(name) ?? groupKey({ planned, case: entry, agent, target, template, overlay, request, env })
    groups.set(name, group)
    return trialKey(group, planned)
  }
}
