import { GantryError } from '../core/error.ts'
import { replayModes } from '../models/boundary/model-link.ts'
import { failedTrials, frozenRequest } from '../scenario/earlier-runs.ts'
import { judgeBatchModes } from '../scenario/judge-batch.ts'
import { parseShard } from '../scenario/plan.ts'
import { type RunRequest, runRequestSchema } from '../scenario/request.ts'
import type { Store } from '../store/contract.ts'
import type { CliContext } from './context.ts'
import { usd } from './flag-values.ts'
import type { TestFlags } from './test-flags.ts'

/** What the command line, the environment and an earlier run ask for, as one request. A flag wins over the environment. */
export async function testRequest(
  paths: readonly string[],
  flags: TestFlags,
  { cwd, env }: CliContext,
  store: Store,
): Promise<RunRequest> {
  if (flags.resume !== undefined) return resumedRequest(frozenRequest(store, flags.resume), flags)
  const named = [...paths, ...(flags.scenario ?? [])]
  const asked = defined({
    paths: named.length === 0 ? undefined : named,
    cwd,
    configFile: flags.config,
    filters: flags.filter,
    tags: flags.tag,
    allTags: flags.allTags,
    tier: flags.tier,
    agents: flags.agent,
    models: flags.model,
    profile: flags.profile,
    defaultAgent: env.GANTRY_AGENT ?? env.LLM_TOOL_TEST_TOOL,
    repeat: flags.repeat,
    shard: flags.shard === undefined ? undefined : parseShard(flags.shard),
    targetBinary: flags.targetBinary,
    timeoutMs: flags.timeout,
    judge: flags.judge ? undefined : false,
    judgeModel: flags.judgeModel ?? env.GANTRY_JUDGE_MODEL ?? env.LLM_TOOL_TEST_JUDGE,
    cache: flags.cache ? undefined : false,
    replay: flags.replay ?? oneOf(env, 'GANTRY_REPLAY', replayModes),
    cassettes: flags.cassettes,
    faults: flags.fault,
    maxCostUsd: flags.maxCostUsd ?? budgetOf(env),
    ...howFar(flags),
    judgeBatch: flags.judgeBatch ?? oneOf(env, 'GANTRY_JUDGE_BATCH', judgeBatchModes),
  })
  if (flags.rerunFailed === undefined || flags.rerunFailed === false) return runRequestSchema.parse(asked)
  const { request, trials } = await failedTrials(
    store,
    flags.rerunFailed === true ? 'latest' : flags.rerunFailed,
  )
  return runRequestSchema.parse({ ...request, ...asked, only: trials, cache: false })
}

/** What a run asks stays as it was planned; only how far and how fast it goes may be said anew. */
function resumedRequest(frozen: RunRequest, flags: TestFlags): RunRequest {
  const anew = defined({
    maxCostUsd: flags.maxCostUsd,
    ...howFar(flags),
  })
  return runRequestSchema.parse({ ...frozen, ...anew })
}

/** How far and how fast a run goes, and how it is judged as a whole: none of it changes a single trial. */
function howFar(flags: TestFlags): Record<string, unknown> {
  return {
    judgeBatch: flags.judgeBatch,
    maxTimeMs: flags.maxTime,
    maxPauseMs: flags.maxPause,
    infraRetries: flags.infraRetries,
    maxInfraRate: flags.maxInfraRate,
    threshold: flags.threshold,
    concurrency: flags.concurrency,
    baseline: flags.baseline,
    seed: flags.seed,
  }
}

function oneOf<T extends string>(env: CliContext['env'], name: string, words: readonly T[]): T | undefined {
  const text = env[name]
  if (text === undefined || text === '') return undefined
  const word = words.find((known) => known === text)
  if (word !== undefined) return word
  throw new GantryError('USAGE', `${name} is '${text}'`, { hint: `Known: ${words.join(', ')}.` })
}

function budgetOf(env: CliContext['env']): number | undefined {
  const text = env.GANTRY_BUDGET_USD ?? env.LLM_TOOL_TEST_BUDGET_USD
  if (text === undefined) return undefined
  try {
    return usd(text)
  } catch (cause) {
    throw new GantryError('USAGE', `the budget in the environment is no amount: ${JSON.stringify(text)}`, {
      hint: 'Set GANTRY_BUDGET_USD to US dollars, for example 2.50.',
      cause,
    })
  }
}

function defined(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
