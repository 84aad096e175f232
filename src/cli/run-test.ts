import { loadProject } from '../config/load.ts'
import { GantryError } from '../core/error.ts'
import { exitCode } from '../core/exit-code.ts'
import { loadBaseline } from '../scenario/baseline.ts'
import { exitCodeOf } from '../scenario/exit-code.ts'
import { type PreparedRun, prepareRun } from '../scenario/prepare-run.ts'
import { runPrepared } from '../scenario/run.ts'
import type { Store } from '../store/contract.ts'
import { openStore } from '../store/open-store.ts'
import type { CliContext } from './context.ts'
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
  const store = storeOf(flags, context)
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
  const baseline = request.baseline === undefined ? null : await loadBaseline(store, request.baseline)
  const reporters = await openTestReporters(flags, context)
  const result = await runPrepared(prepared, {
    store,
    reporter: reporters,
    signal: context.signal,
    argv: ['gantry', ...process.argv.slice(2)],
    ...(baseline !== null && { baseline }),
    ...(flags.resume !== undefined && { resume: flags.resume }),
  })
  context.setExitCode(
    result.interrupted
      ? exitCode.interrupted
      : exitCodeOf(result.summary, { threshold: flags.threshold ?? 1, strict: flags.strict === true }),
  )
  for (const { name, error } of reporters.problems()) {
    context.stderr.write(`The reporter ${name} failed.\n`)
    context.setExitCode(printError(error, context))
  }
  return prepared
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
  if (
    flags.resume !== undefined &&
    (paths.length > 0 || flags.agent !== undefined || flags.rerunFailed !== undefined)
  ) {
    clash('--resume goes on with a run as it was planned', 'Name no paths or agents beside it.')
  }
  if (flags.watch === true && (flags.resume !== undefined || flags.json === true)) {
    clash('--watch goes with neither --resume nor --json', 'Leave one of them out.')
  }
}

function storeOf(flags: TestFlags, { cwd, env }: CliContext): Store {
  const { root, config } = loadProject(cwd, flags.config)
  const { results_path } = config
  // The environment wins over the file.
  const fromFile = env.AGENT_ARTIFACT_DIR === undefined && results_path !== undefined
  return fromFile ? openStore({ env, cwd: root, root: results_path }) : openStore({ env, cwd })
}
