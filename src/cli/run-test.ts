import { resolve } from 'node:path'
import { openProjectStore } from '../config/open-project-store.ts'
import { createFacts } from '../core/case-facts.ts'
import { compareFacts, refuseNothing, thisRun } from '../core/compare-facts.ts'
import { GantryError } from '../core/error.ts'
import { type ExitCode, exitCode, exitCodeOf } from '../core/exit-code.ts'
import { defined } from '../core/json-fields.ts'
import { checkWritable } from '../io/check-writable.ts'
import type { ReplayMode } from '../models/boundary/model-link.ts'
import { parseReporterSpec } from '../report/index.ts'
import { type ComposedReporter, composeReporters, openReporters } from '../report/open-reporters.ts'
import { plainLine } from '../report/plain-text.ts'
import { baselineOf } from '../scenario/compare-sides.ts'
import type { RunResult } from '../scenario/finish-run.ts'
import type { JudgeBatchMode } from '../scenario/judge-batch.ts'
import type { RunContext } from '../scenario/open-live-run.ts'
import { openSide } from '../scenario/open-side.ts'
import { parseShard } from '../scenario/plan.ts'
import { type PreparedRun, prepareRun } from '../scenario/prepare-run.ts'
import { newRequest, type RunRequest, rerunRequest, resumedRequest } from '../scenario/request.ts'
import { runPrepared } from '../scenario/run.ts'
import type { Store } from '../store/contract.ts'
import { codeOf } from './compare.ts'
import type { CliContext } from './context.ts'
import { keepHeapSmall } from './keep-heap-small.ts'
import { printReporterProblems } from './print-reporter-problems.ts'

export async function runTest(paths: readonly string[], flags: TestFlags, context: CliContext) {
  refuseWhenSwitchedOff(context)
  refuseContradictions(paths, flags)
  // Report a mistyped reporter or a report that cannot be written before anything runs.
  for (const { name, path } of (flags.reporter ?? []).map(parseReporterSpec)) {
    if (path !== null && flags.plan !== true && flags.dryRun !== true)
      checkWritable(name === 'blob' ? resolve(context.cwd, path, 'blob') : resolve(context.cwd, path))
  }
  const store = openProjectStore(defined({ ...context, configFile: flags.config }))
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
  // The plan of a queue is often large.
  if (flags.queue !== undefined) keepHeapSmall()
  const prepared = await prepareRun(request, context.env, context.signal)
  const baseline = await baselineOf(prepared, store)
  const against = await againstOf(prepared, flags, store)
  if (flags.plan === true || flags.dryRun === true) {
    const { printPlan } = await import('./print-plan.ts')
    await printPlan(prepared, store, { json: flags.json === true }, context)
    return prepared
  }
  await warnOfBudget(prepared, store, context)
  const reporters = await openTestReporters(flags, context)
  keepHeapSmall()
  const runContext = {
    store,
    reporter: reporters,
    signal: context.signal,
    argv: ['gantry', ...process.argv.slice(2)],
    ...defined({ baseline, against, resume: flags.resume, failOn: flags.failOn }),
  }
  const result =
    flags.queue === undefined
      ? await runPrepared(prepared, runContext)
      : await throughQueue(prepared, flags, runContext, context)
  const code = result.interrupted ? exitCode.interrupted : codeOfRun(result, flags)
  context.setExitCode(printReporterProblems(reporters.problems(), { runId: result.runId, code }, context))
  return prepared
}

async function throughQueue(
  prepared: PreparedRun,
  flags: TestFlags,
  runContext: RunContext,
  context: CliContext,
): Promise<RunResult> {
  const { withQueue } = await import('./queue.ts')
  const { runQueued } = await import('../scenario/queued-run.ts')
  const { cwd, env, stdout } = context
  const isInteractive = flags.priority === undefined ? stdout.isTTY : flags.priority === 'interactive'
  const options = {
    labels: flags.workerLabel ?? [],
    memoryMb: flags.workerMemory ?? 0,
    // What failed before is of interest first.
    priority: (isInteractive ? 2 : 0) + (flags.rerunFailed === undefined ? 0 : 1),
    anyAgentVersion: flags.anyAgentVersion === true,
  }
  return withQueue(
    flags,
    context,
    (queue) => runQueued(prepared, { ...runContext, queue, cwd, env }, options),
    true,
  )
}

/** A comparison that was asked for decides instead of single failures, which both sides may have. */
export function codeOfRun(
  { summary, comparisons, isComparison }: Pick<RunResult, 'summary' | 'comparisons' | 'isComparison'>,
  flags: Pick<TestFlags, 'failOn' | 'strict'>,
): ExitCode {
  const code = exitCodeOf(summary, { strict: flags.strict === true })
  const { failOn = 'worse', strict } = flags
  if (code === exitCode.infra || code === exitCode.usage) return code
  if (!isComparison || comparisons.length === 0)
    return failOn === 'regression' && summary.regressions.length > 0 ? exitCode.failed : code
  // A limit that came before the first pair leaves the question open.
  const codes = comparisons.map((each) =>
    each.pairs === 0 && summary.notRun === 0 ? exitCode.usage : codeOf(each, { failOn, strict }),
  )
  const order = [exitCode.usage, exitCode.failed, exitCode.inconclusive] as const
  const compared = order.find((each) => codes.includes(each)) ?? exitCode.pass
  return compared === exitCode.pass && code === exitCode.inconclusive ? code : compared
}

/** The side this run is compared with. Throws GantryError USAGE if no planned trial could be compared. */
async function againstOf(
  prepared: PreparedRun,
  flags: TestFlags,
  store: Store,
): Promise<RunContext['against']> {
  const { request, trials, caseHashes } = prepared
  if (flags.against === undefined) return undefined
  const side = await openSide(store, flags.against, request.cwd)
  const facts = createFacts()
  for (const { case: name, agent, model } of trials) {
    const caseHash = caseHashes.get(name)
    facts.add(
      defined({ case: name, agent, model, verdict: 'pass', gates: [], score: null, costUsd: null, caseHash }),
    )
  }
  refuseNothing(compareFacts(side, { name: thisRun, runId: '', facts: facts.finish() }, request))
  return side
}

async function warnOfBudget(prepared: PreparedRun, store: Store, { stderr }: CliContext): Promise<void> {
  const cap = prepared.request.maxCostUsd
  if (cap === undefined) return
  const { estimateRun } = await import('../scenario/estimate.ts')
  const { costUsd } = await estimateRun(prepared, store)
  if (costUsd === null || costUsd <= cap) return
  stderr.write(
    `warning: this run would cost about $${costUsd.toFixed(2)}, but stops at $${cap.toFixed(2)} (--max-cost-usd)\n`,
  )
}

/** A safety switch of older setups: any value but 1 forbids runs. Unset, it has no effect. */
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
    clash('--profile names agents and models already', 'Remove --agent and --model, or --profile.')
  }
  if (flags.resume !== undefined) {
    const planned = paths.length > 0 ? 'paths' : planFlagIn(flags)
    if (planned !== null)
      clash(`--resume continues a run as it was planned: ${planned} would change it`, 'Remove it.')
  }
  const arms = new Set(flags.arms ?? [])
  const twice = flags.arms?.find((name, index, all) => all.indexOf(name) < index)
  if (twice !== undefined) clash(`--arms names '${twice}' twice`, 'Name every arm once.')
  if (arms.size < 2 && flags.against === undefined && flags.resume === undefined) {
    if (flags.margin !== undefined)
      clash('--margin belongs to a comparison', 'Add --against RUN or --arms A,B, or remove it.')
    if (flags.failOn !== undefined && flags.baseline === undefined)
      clash('--fail-on belongs to a comparison', 'Add --against, --baseline or --arms A,B, or remove it.')
  }
  if (flags.untilDecided !== true && flags.maxRepeat !== undefined)
    clash('--max-repeat belongs to --until-decided', 'Write --repeat for a fixed number of attempts.')
  if (flags.untilDecided === true && flags.repeat !== undefined)
    clash('--until-decided decides about the number of attempts', 'Write --max-repeat instead of --repeat.')
  if (
    flags.queue !== undefined &&
    (flags.resume !== undefined || flags.untilDecided === true || flags.shard !== undefined)
  )
    clash(
      '--queue cannot be combined with --resume, --until-decided or --shard',
      'Continue a run of a queue with "gantry runs follow RUN".',
    )
  if (flags.rerunFailed !== undefined && flags.against !== undefined)
    clash(
      'trials that failed before cannot be compared fairly with all trials',
      'Remove --rerun-failed or --against.',
    )
  if (flags.watch === true && (flags.resume !== undefined || flags.json === true)) {
    clash('--watch cannot be combined with --resume or --json', 'Use only one of them.')
  }
}

/** Flags that change neither which trials are made nor how. */
const besideResume = new Set(
  'resume config watch json reporter strict maxCostUsd maxTime maxPause infraRetries maxInfraRate threshold concurrency baseline against margin failOn seed judgeBatch'.split(
    ' ',
  ),
)

/** A flag that --resume would ignore. */
function planFlagIn(flags: TestFlags): string | null {
  for (const [name, value] of Object.entries(flags)) {
    // --no-judge and --no-cache are on by default.
    const isDefault = value === true && (name === 'judge' || name === 'cache')
    if (besideResume.has(name) || isDefault) continue
    const word = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    return name === 'judge' || name === 'cache' ? `--no-${word}` : `--${word}`
  }
  return null
}

/** The request from the command line, the environment and an earlier run. A flag overrides the environment. */
async function testRequest(
  paths: readonly string[],
  flags: TestFlags,
  { cwd, env }: CliContext,
  store: Store,
): Promise<RunRequest> {
  const limits = {
    maxCostUsd: flags.maxCostUsd,
    maxTimeMs: flags.maxTime,
    maxPauseMs: flags.maxPause,
    infraRetries: flags.infraRetries,
    maxInfraRate: flags.maxInfraRate,
    threshold: flags.threshold,
    concurrency: flags.concurrency,
    baseline: flags.baseline,
    seed: flags.seed,
    margin: flags.margin,
    judgeBatch: flags.judgeBatch,
  }
  if (flags.resume !== undefined) return resumedRequest(store, flags.resume, limits)
  const named = [...paths, ...(flags.scenario ?? [])]
  const shard = flags.shard === undefined ? undefined : parseShard(flags.shard)
  const asked = {
    ...limits,
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
    arms: flags.arms,
    repeat: flags.untilDecided === true ? (flags.maxRepeat ?? 20) : flags.repeat,
    untilDecided: flags.untilDecided,
    shard,
    caseMs:
      shard === undefined
        ? undefined
        : await (await import('../scenario/estimate.ts')).caseTimes(store, { baseline: flags.baseline, cwd }),
    targetBinary: flags.targetBinary,
    timeoutMs: flags.timeout,
    judge: flags.judge ? undefined : false,
    judgeModel: flags.judgeModel,
    cache: flags.cache ? undefined : false,
    replay: flags.replay,
    cassettes: flags.cassettes,
    faults: flags.fault,
  }
  if (flags.rerunFailed === undefined || flags.rerunFailed === false) return newRequest(asked, env)
  return rerunRequest(store, flags.rerunFailed === true ? 'latest' : flags.rerunFailed, asked, env)
}

/** The requested reporters. With JSON on standard output, standard error still gets the live view, or in a pipe the notes. */
export async function openTestReporters(
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
  if (forPeople) return asked
  const beside: ComposedReporter = context.stderr.isTTY
    ? await openReporters([parseReporterSpec('console')], { ...place, stdout: context.stderr })
    : composeReporters([{ note: ({ message }) => void context.stderr.write(`${plainLine(message)}\n`) }])
  const both = composeReporters({ asked, beside })
  return { ...both, problems: () => [...both.problems(), ...asked.problems(), ...beside.problems()] }
}

/** Parsed flags of `gantry test`. Absent: the file or the default decides. */
export interface TestFlags {
  readonly against?: string
  readonly margin?: number
  readonly failOn?: 'worse' | 'inconclusive' | 'regression'
  readonly scenario?: string[]
  readonly agent?: string[]
  readonly model?: string[]
  readonly arms?: string[]
  readonly untilDecided?: boolean
  readonly maxRepeat?: number
  readonly profile?: string
  readonly targetBinary?: string
  readonly config?: string
  readonly filter?: string[]
  readonly tag?: string[]
  readonly allTags?: boolean
  readonly tier?: number
  readonly shard?: string
  readonly queue?: string
  readonly blobs?: string
  readonly workerLabel?: string[]
  readonly workerMemory?: number
  readonly anyAgentVersion?: boolean
  readonly priority?: 'interactive' | 'batch'
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
