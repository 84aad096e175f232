import { resolve } from 'node:path'
import { openProjectStore } from '../config/open-project-store.ts'
import { GantryError } from '../core/error.ts'
import { exitCode, exitCodeOf } from '../core/exit-code.ts'
import { checkWritable } from '../io/check-writable.ts'
import { type ReplayMode, replayModes } from '../models/boundary/model-link.ts'
import { parseReporterSpec } from '../report/index.ts'
import { type ComposedReporter, composeReporters, openReporters } from '../report/open-reporters.ts'
import { failedTrials, frozenRequest, loadBaseline } from '../scenario/earlier-runs.ts'
import { type JudgeBatchMode, judgeBatchModes } from '../scenario/judge-batch.ts'
import { parseShard } from '../scenario/plan.ts'
import { type PreparedRun, prepareRun } from '../scenario/prepare-run.ts'
import { type RunRequest, runRequestSchema } from '../scenario/request.ts'
import { runPrepared } from '../scenario/run.ts'
import type { Store } from '../store/contract.ts'
import type { CliContext } from './context.ts'
import { usd } from './flag-values.ts'
import { keepHeapSmall } from './keep-heap-small.ts'
import { printError } from './print-error.ts'

/** `gantry test`, once the flags are known. */
export async function runTest(
  paths: readonly string[],
  flags: TestFlags,
  context: CliContext,
): Promise<void> {
  refuseWhenSwitchedOff(context)
  refuseContradictions(paths, flags)
  // Report a mistyped reporter or a report that cannot be written before anything runs.
  for (const { path } of (flags.reporter ?? []).map(parseReporterSpec)) {
    if (path !== null && flags.plan !== true && flags.dryRun !== true)
      checkWritable(resolve(context.cwd, path))
  }
  const store = openProjectStore({
    ...context,
    ...(flags.config !== undefined && { configFile: flags.config }),
  })
  if (flags.watch !== true) {
    await runOnce(paths, flags, context, store)
    return
  }
  const { watchRuns } = await import('./watch-runs.ts')
  await watchRuns(context, () => runOnce(paths, flags, context, store))
}

async function runOnce(
  paths: readonly string[],
  flags: TestFlags,
  context: CliContext,
  store: Store,
): Promise<PreparedRun> {
  const request = await testRequest(paths, flags, context, store)
  const prepared = await prepareRun(request, context.env, context.signal)
  if (flags.plan === true || flags.dryRun === true) {
    const { printPlan } = await import('./print-plan.ts')
    await printPlan(prepared, store, { json: flags.json === true }, context)
    return prepared
  }
  await warnOfBudget(prepared, store, context)
  const baseline = request.baseline === undefined ? null : await loadBaseline(store, request.baseline)
  const reporters = await openTestReporters(flags, context)
  keepHeapSmall()
  const result = await runPrepared(prepared, {
    store,
    reporter: reporters,
    signal: context.signal,
    argv: ['gantry', ...process.argv.slice(2)],
    ...(baseline !== null && { baseline }),
    ...(flags.resume !== undefined && { resume: flags.resume }),
  })
  context.setExitCode(
    result.interrupted ? exitCode.interrupted : exitCodeOf(result.summary, { strict: flags.strict === true }),
  )
  for (const { name, error } of reporters.problems()) {
    context.stderr.write(`The reporter ${name} failed.\n`)
    context.setExitCode(printError(error, context))
  }
  return prepared
}

/** Before money is spent: an estimate above the cap means that the run will stop before its end. */
async function warnOfBudget(prepared: PreparedRun, store: Store, { stderr }: CliContext): Promise<void> {
  const cap = prepared.request.maxCostUsd
  if (cap === undefined) return
  const { estimateRun } = await import('../scenario/estimate.ts')
  const { costUsd } = await estimateRun(prepared, store)
  if (costUsd === null || costUsd <= cap) return
  stderr.write(
    `warning: this run would cost about $${costUsd.toFixed(2)}, and stops at $${cap.toFixed(2)} (--max-cost-usd)\n`,
  )
}

/** The variable older set-ups use as a safety switch: set to anything but 1 it forbids runs. Unset, it says nothing. */
function refuseWhenSwitchedOff({ env }: CliContext): void {
  const enabled = env.LLM_TOOL_TEST_ENABLED
  if (enabled === undefined || enabled === '1') return
  throw new GantryError('USAGE', `LLM_TOOL_TEST_ENABLED is ${JSON.stringify(enabled)}, which forbids runs`, {
    hint: 'Set it to 1, or unset it.',
  })
}

function refuseContradictions(paths: readonly string[], flags: TestFlags): void {
  const clash = (message: string, hint: string): never => {
    throw new GantryError('USAGE', message, { hint })
  }
  if (flags.profile !== undefined && (flags.agent !== undefined || flags.model !== undefined)) {
    clash('--profile names agents and models already', 'Leave out --agent and --model, or --profile.')
  }
  if (flags.resume !== undefined) {
    const planned = paths.length > 0 ? 'paths' : planFlagIn(flags)
    if (planned !== null)
      clash(`--resume continues a run as it was planned: ${planned} would change it`, 'Leave it out.')
  }
  if (flags.watch === true && (flags.resume !== undefined || flags.json === true)) {
    clash('--watch goes with neither --resume nor --json', 'Leave one of them out.')
  }
}

/** A flag that selects what is run, and would be silently ignored with --resume. */
function planFlagIn(flags: TestFlags): string | null {
  const given: [string, unknown][] = [
    ['--scenario', flags.scenario],
    ['--agent', flags.agent],
    ['--model', flags.model],
    ['--profile', flags.profile],
    ['--target-binary', flags.targetBinary],
    ['--filter', flags.filter],
    ['--tag', flags.tag],
    ['--all-tags', flags.allTags],
    ['--tier', flags.tier],
    ['--shard', flags.shard],
    ['--repeat', flags.repeat],
    ['--timeout', flags.timeout],
    ['--judge-model', flags.judgeModel],
    ['--no-judge', flags.judge ? undefined : true],
    ['--no-cache', flags.cache ? undefined : true],
    ['--rerun-failed', flags.rerunFailed],
    ['--plan', flags.plan ?? flags.dryRun],
  ]
  return given.find(([, value]) => value !== undefined)?.[0] ?? null
}

/** What the command line, the environment and an earlier run ask for, as one request. A flag wins over the environment. */
async function testRequest(
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

/** A resumed run keeps its plan; only its limits and its speed may change. */
function resumedRequest(frozen: RunRequest, flags: TestFlags): RunRequest {
  const anew = defined({
    maxCostUsd: flags.maxCostUsd,
    ...howFar(flags),
  })
  return runRequestSchema.parse({ ...frozen, ...anew })
}

/** Limits and speed of a run, and how it is judged as a whole. None of it changes a single trial. */
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
    throw new GantryError(
      'USAGE',
      `the budget in the environment is not an amount: ${JSON.stringify(text)}`,
      {
        hint: 'Set GANTRY_BUDGET_USD to US dollars, for example 2.50.',
        cause,
      },
    )
  }
}

function defined(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/**
 * The reporters a run was asked for. A person who takes the JSON from standard output still gets the live view, on the
 * other stream, when that one is a terminal.
 */
async function openTestReporters(
  flags: Pick<TestFlags, 'json' | 'reporter'>,
  context: CliContext,
): Promise<ComposedReporter> {
  const named = (flags.reporter ?? []).map(parseReporterSpec)
  const specs = flags.json === true ? [...named, parseReporterSpec('json')] : named
  const onStdout = specs.some(({ path }) => path === null)
  const place = { env: context.env, cwd: context.cwd }
  if (!onStdout)
    return openReporters([...specs, parseReporterSpec('console')], { ...place, stdout: context.stdout })
  const asked = await openReporters(specs, { ...place, stdout: context.stdout })
  const forPeople = specs.some(({ name, path }) => name === 'console' && path === null)
  if (forPeople || !context.stderr.isTTY) return asked
  const beside = await openReporters([parseReporterSpec('console')], { ...place, stdout: context.stderr })
  const both = composeReporters({ asked, beside })
  return { ...both, problems: () => [...both.problems(), ...asked.problems(), ...beside.problems()] }
}

/** Flags of `gantry test`, as commander hands them over. Absent means: the file or the default decides. */
export interface TestFlags {
  readonly scenario?: string[]
  readonly agent?: string[]
  readonly model?: string[]
  readonly profile?: string
  readonly targetBinary?: string
  readonly config?: string
  readonly filter?: string[]
  readonly tag?: string[]
  readonly allTags?: boolean
  readonly tier?: number
  readonly shard?: string
  readonly repeat?: number
  readonly concurrency?: number
  readonly timeout?: number
  readonly judge: boolean
  readonly judgeModel?: string
  readonly judgeBatch?: JudgeBatchMode
  readonly cache: boolean
  readonly replay?: ReplayMode
  readonly cassettes?: string
  readonly fault?: string[]
  readonly maxCostUsd?: number
  readonly maxTime?: number
  readonly maxPause?: number
  readonly infraRetries?: number
  readonly maxInfraRate?: number
  readonly threshold?: number
  readonly strict?: boolean
  readonly baseline?: string
  readonly seed?: number
  readonly plan?: boolean
  readonly dryRun?: boolean
  readonly resume?: string
  readonly rerunFailed?: string | boolean
  readonly watch?: boolean
  readonly json?: boolean
  readonly reporter?: string[]
}
