import { dirname } from 'node:path'
import { z } from 'zod'
import { findConfig } from '../config/find-config.ts'
import { GantryError } from '../core/error.ts'
import { defined } from '../core/json-fields.ts'
import { parseUsd } from '../core/parse-usd.ts'
import { checkOptions } from '../io/check-options.ts'
import { replayModes } from '../models/boundary/model-link.ts'
import type { Store, StoredRun } from '../store/contract.ts'
import { findRun } from '../store/find-run.ts'
import { openRun } from '../store/open-run.ts'
import { judgeBatchModes } from './judge-batch.ts'

const names = z.array(z.string()).default([])

/**
 * The request of a run as plain data, stored with the plan so that `--resume` needs no other flags. Missing values come from
 * gantry.yaml or are defaults.
 */
export const runRequestSchema = z.object({
  /** Files, directories, globs or names of scenarios. */
  paths: names,
  cwd: z.string(),
  configFile: z.string().optional(),
  filters: names,
  tags: names,
  allTags: z.boolean().default(false),
  tier: z.number().optional(),
  agents: names,
  models: names,
  profile: z.string().optional(),
  /** Variants of agents, each compared with the first. */
  arms: names.transform((list) => [...new Set(list)]),
  /** From the environment; used when nothing else names an agent. */
  defaultAgent: z.string().optional(),
  repeat: z.int().min(1).default(1),
  /** Ends after the round of attempts that decides every comparison of arms. */
  untilDecided: z.boolean().default(false),
  /** Difference of pass rates that does not matter in a comparison. */
  margin: z.number().gt(0).lt(1).default(0.05),
  shard: z.object({ index: z.int(), count: z.int() }).optional(),
  /** Mean time of a trial in earlier runs by case. Shards are balanced by it. */
  caseMs: z.record(z.string(), z.number().min(0)).optional(),
  targetBinary: z.string().optional(),
  timeoutMs: z.number().positive().optional(),
  judge: z.boolean().default(true),
  judgeModel: z.string().optional(),
  judgeBatch: z.enum(judgeBatchModes).default('auto'),
  cache: z.boolean().default(true),
  maxCostUsd: z.number().positive().optional(),
  maxTimeMs: z.number().positive().optional(),
  /** Pass rate every case must reach. */
  threshold: z.number().min(0).max(1).default(1),
  maxInfraRate: z.number().min(0).max(1).default(0.05),
  infraRetries: z.int().min(0).default(2),
  /** How long one trial may wait for a rate limit. */
  maxPauseMs: z
    .number()
    .min(0)
    .default(15 * 60_000),
  /** Whether the traffic between agents and models is recorded or replayed. */
  replay: z.enum(replayModes).default('off'),
  /** Directory of cassettes, instead of the configured one. */
  cassettes: z.string().optional(),
  /** Injected faults, in the short form of `--fault`. */
  faults: names,
  concurrency: z.int().min(1).default(2),
  /** Run id, or `blessed` for the newest blessed run of these scenarios. */
  baseline: z.string().optional(),
  seed: z.int().default(1),
  /** Only these trials of the plan, by case, agent, model and attempt. */
  only: z
    .array(z.object({ case: z.string(), agent: z.string(), model: z.string(), attempt: z.int() }))
    .optional(),
})

export type RunRequest = z.output<typeof runRequestSchema>
export type RunRequestInput = z.input<typeof runRequestSchema>

/** What a caller asks for. A key that is undefined counts as missing. */
export type AskedRun = { readonly [Key in keyof RunRequestInput]?: RunRequestInput[Key] | undefined }

type Env = Readonly<Record<string, string | undefined>>

const askedSchema = z.strictObject(runRequestSchema.shape)

/** A new request. What it leaves open comes from the environment, then from gantry.yaml or the defaults. */
export function newRequest(asked: AskedRun, env: Env): RunRequest {
  const request = checkOptions('request', askedSchema, { ...fromEnvironment(env), ...defined(asked) })
  const { arms, agents, profile, untilDecided, models, shard } = request
  const refuse = (isWrong: boolean, message: string, hint: string): void => {
    if (isWrong) throw new GantryError('USAGE', message, { hint })
  }
  refuse(
    arms.length > 0 && (profile !== undefined || agents.length > 0),
    '--arms names agents already',
    'Remove --agent and --profile, or --arms.',
  )
  if (!untilDecided) return request
  refuse(arms.length < 2, '--until-decided compares arms', 'Name at least two: --arms A,B.')
  refuse(
    models.length > 1,
    '--until-decided needs one model for all arms',
    'Give the arms models of their own in gantry.yaml.',
  )
  refuse(
    shard !== undefined,
    '--until-decided needs all cases in one run',
    'Remove --shard, or use --repeat.',
  )
  return request
}

/** The request of an earlier run for those of its trials that did not pass, changed by what is asked for now. */
export async function rerunRequest(
  store: Store,
  idOrPrefix: string,
  asked: AskedRun,
  env: Env,
): Promise<RunRequest> {
  const { request, trials } = await failedTrials(store, idOrPrefix, asked.cwd)
  // The trials are of that shard already.
  const { shard: _, caseMs: __, ...earlier } = request
  const changed = { ...earlier, ...fromEnvironment(env), ...defined(asked) }
  return checkOptions('request', askedSchema, { ...changed, only: trials, cache: false })
}

/** Limits and concurrency of a run, and how it is judged as a whole. They do not affect single trials. */
const changeable = [
  'maxCostUsd',
  'maxTimeMs',
  'maxPauseMs',
  'infraRetries',
  'maxInfraRate',
  'threshold',
  'concurrency',
  'baseline',
  'margin',
  'judgeBatch',
] as const

/**
 * The request of a run that is resumed. It keeps its plan; only its limits and its concurrency may change. Throws GantryError USAGE
 * for anything else that differs from the plan.
 */
export function resumedRequest(store: Store, idOrPrefix: string, asked: AskedRun): RunRequest {
  const frozen = frozenRequest(store, idOrPrefix)
  // They only lead to the store.
  const { cwd: _, configFile: __, ...given } = defined(asked)
  const merged = checkOptions('request', askedSchema, { ...frozen, ...given })
  const clash = (Object.keys(given) as (keyof RunRequest)[]).find(
    (key) =>
      !changeable.some((name) => name === key) && JSON.stringify(merged[key]) !== JSON.stringify(frozen[key]),
  )
  if (clash === undefined) return merged
  throw new GantryError('USAGE', `a run is resumed as it was planned: '${clash}' would change it`, {
    hint: `Remove it. These may change: ${changeable.join(', ')}.`,
  })
}

export function frozenRequest(store: Store, idOrPrefix: string): RunRequest {
  return requestOf(openRun(store, findRun(store, idOrPrefix, { kind: 'scenario' })))
}

/** The request of a run, and its trials that did not pass: failed, broken, or never run. */
async function failedTrials(store: Store, idOrPrefix: string, cwd: string | undefined) {
  const isSameProject = (other: string): boolean => cwd === undefined || rootOf(other) === rootOf(cwd)
  const run = openRun(store, findRun(store, idOrPrefix, { kind: 'scenario', isWanted: isSameProject }))
  const ranIn = run.manifest().cwd
  if (!isSameProject(ranIn))
    throw new GantryError('USAGE', `${run.id} is of another project: it ran in ${ranIn}`, {
      hint: `Run its failed trials again from there: cd ${ranIn}`,
    })
  const request = requestOf(run)
  const planned = (run.plan()?.trials ?? []) as (NonNullable<RunRequest['only']>[number] & {
    readonly id: string
  })[]
  const passed = new Set<string>()
  for await (const record of run.trials()) if (record.verdict === 'pass') passed.add(record.id)
  const trials = planned
    .filter(({ id }) => !passed.has(id))
    .map(({ case: name, agent, model, attempt }) => ({ case: name, agent, model, attempt }))
  if (trials.length > 0) return { request, trials }
  throw new GantryError('USAGE', `every trial of ${run.id} passed`, {
    hint: 'There is nothing to run again.',
  })
}

function rootOf(cwd: string): string {
  const config = findConfig(cwd)
  return config === null ? cwd : dirname(config)
}

function requestOf(run: StoredRun): RunRequest {
  const plan = run.plan()
  const parsed = runRequestSchema.safeParse(plan !== null && 'request' in plan ? plan.request : undefined)
  if (parsed.success) return parsed.data
  throw new GantryError(
    'USAGE',
    `${run.id} is not a run of 'gantry test', or was stopped before it had a plan`,
    {
      hint: "'gantry runs list --kind scenario' lists them.",
    },
  )
}

function fromEnvironment(env: Env): AskedRun {
  return defined({
    defaultAgent: env.GANTRY_AGENT ?? env.LLM_TOOL_TEST_TOOL,
    judgeModel: env.GANTRY_JUDGE_MODEL ?? env.LLM_TOOL_TEST_JUDGE,
    replay: oneOf(env, 'GANTRY_REPLAY', replayModes),
    judgeBatch: oneOf(env, 'GANTRY_JUDGE_BATCH', judgeBatchModes),
    maxCostUsd: budgetOf(env),
  })
}

function oneOf<T extends string>(env: Env, name: string, words: readonly T[]): T | undefined {
  const text = env[name]
  if (text === undefined || text === '') return undefined
  const word = words.find((known) => known === text)
  if (word !== undefined) return word
  throw new GantryError('USAGE', `${name} is '${text}'`, { hint: `Known: ${words.join(', ')}.` })
}

function budgetOf(env: Env): number | undefined {
  const text = env.GANTRY_BUDGET_USD ?? env.LLM_TOOL_TEST_BUDGET_USD
  if (text === undefined) return undefined
  const usd = parseUsd(text)
  if (usd !== null) return usd
  throw new GantryError('USAGE', `the budget in the environment is not an amount: ${JSON.stringify(text)}`, {
    hint: 'Set GANTRY_BUDGET_USD to US dollars, for example 2.50.',
  })
}
