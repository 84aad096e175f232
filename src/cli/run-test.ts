import { resolve } from 'node:path'
import { openProjectStore } from '../config/open-project-store.ts'
import { GantryError } from '../core/error.ts'
import { exitCode, exitCodeOf } from '../core/exit-code.ts'
import { checkWritable } from '../io/check-writable.ts'
import { parseReporterSpec } from '../report/index.ts'
import { loadBaseline } from '../scenario/earlier-runs.ts'
import { type PreparedRun, prepareRun } from '../scenario/prepare-run.ts'
import { runPrepared } from '../scenario/run.ts'
import type { Store } from '../store/contract.ts'
import type { CliContext } from './context.ts'
import { keepHeapSmall } from './keep-heap-small.ts'
import { openTestReporters } from './open-test-reporters.ts'
import { printError } from './print-error.ts'
import type { TestFlags } from './test-flags.ts'
import { testRequest } from './test-request.ts'

/** `gantry test`, once the flags are known. */
export async function runTest(
  paths: readonly string[],
  flags: TestFlags,
  context: CliContext,
): Promise<void> {
  refuseWhenSwitchedOff(context)
  refuseContradictions(paths, flags)
  // A mistyped reporter, or a report that cannot be written, is told before anything is done.
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
      clash(`--resume goes on with a run as it was planned: ${planned} would change it`, 'Leave it out.')
  }
  if (flags.watch === true && (flags.resume !== undefined || flags.json === true)) {
    clash('--watch goes with neither --resume nor --json', 'Leave one of them out.')
  }
}

/** A flag that says what is run, and would be silently ignored beside --resume. */
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
