import { GantryError } from '../../core/error.ts'
import { exitCode } from '../../core/exit-code.ts'
import type { RunSummary } from '../../core/summary.ts'
import { monotonicMs } from '../../io/clock.ts'
import { namesIn } from '../../io/directory.ts'
import type { Reporter } from '../../report/contract.ts'
import { cleanAfterRun } from '../../store/apply-retention.ts'
import { withResumeHint } from '../../trials/resume-hint.ts'
import type { PluginLoad } from '../analyze/contract.ts'
import { note, type PluginStage, stages } from '../contract.ts'
import { nextStage, stopped } from '../state/evaluation-state.ts'
import { trialNames } from './evaluation-files.ts'
import type { EvaluationWork } from './evaluation-work.ts'
import { runAnalysis } from './run-analysis.ts'
import { runEvaluation } from './run-evaluation.ts'
import { checkedLoad, preflightExecution, runExecution, trialsHavePlugin } from './run-execution.ts'
import { preflightJudge, runGeneration } from './run-generation.ts'
import { spentSoFar } from './spent-so-far.ts'

export type EvaluationEnd = Awaited<ReturnType<typeof runStages>>

/** Runs the remaining stages one after the other. Finished work survives any end of this process. */
export async function runStages(work: EvaluationWork, reporter: Reporter, options: RunStagesOptions) {
  const { run, context } = work
  /** null when the run ended before the last stage. */
  let summary: RunSummary | null = null
  try {
    for (let stage = nextStage(work.state()); stage !== null; stage = nextStage(work.state())) {
      if (context.signal.aborted) break
      switch (stage) {
        case 'analysis':
          await timed(work, stage, runAnalysis)
          break
        case 'generation': {
          await preflightJudge(work)
          const load = await reachedAgent(work)
          await options.beforeSpending?.(work, load)
          await timed(work, stage, runGeneration)
          break
        }
        case 'execution':
          await timed(work, stage, runExecution)
          break
        case 'evaluation':
          summary = await runEvaluation(work, reporter, options)
          break
      }
      if (stage === 'evaluation') break
    }
  } catch (error) {
    if (!context.signal.aborted) {
      if (isRefusal(error) && isUntouched(work)) {
        run.discard()
        throw error
      }
      noteError(work, error)
      throw work.state().stage === 'pending' ? error : withResumeHint(error, run, 'gantry plugin resume')
    }
    if (!isInterruption(error)) throw error
  }
  const interrupted = context.signal.aborted
  if (summary === null) {
    const { generation, execution, evaluation } = spentSoFar(work.files)
    const costUsd = generation + execution + evaluation + work.state().lost_cost_usd
    await run.end({ status: interrupted ? 'interrupted' : 'partial', costUsd })
  }
  if (!interrupted)
    for (const message of cleanAfterRun(context.store, [run.id])) note(context.onStep, 'info', message)
  return { runId: run.id, runDir: run.dir, pluginName: work.state().plugin_name, summary, interrupted }
}

/** Reports the end of a stage, and how many things it made. */
async function timed(
  work: EvaluationWork,
  stage: PluginStage,
  run: (work: EvaluationWork) => Promise<number>,
): Promise<void> {
  const startedMs = monotonicMs()
  const count = await run(work)
  work.context.onStep({ kind: 'stage_complete', stage, duration_ms: monotonicMs() - startedMs, count })
}

export interface RunStagesOptions {
  /** Pass rate every scenario must reach. Default 1. */
  readonly threshold?: number
  /** Called after the analysis, before anything costs money. */
  readonly beforeSpending?: (work: EvaluationWork, load: PluginLoad | null) => Promise<void>
}

/** What Claude Code loads, checked before anything is paid for; null when no trial with the plugin follows. */
async function reachedAgent(work: EvaluationWork): Promise<PluginLoad | null> {
  const { until, fast_from: fast } = work.state()
  // The fast mode takes its scenarios from an earlier run, so its generation costs nothing.
  if (fast !== null || stages.indexOf(until) < stages.indexOf('execution')) return null
  if (trialsHavePlugin(work)) return loadedOrRefused(await checkedLoad(work))
  await preflightExecution(work)
  return null
}

/** All trials of a plugin that does not load would be invalid. */
function loadedOrRefused(load: PluginLoad): PluginLoad {
  if (load.loaded) return load
  const { error = 'Claude Code reports no reason', error_type: type, recovery_hint: hint = '' } = load
  throw new GantryError(type === 'timeout' ? 'SPAWN_FAILED' : 'USAGE', `the plugin did not load: ${error}`, {
    hint: `Nothing was paid. ${hint}`.trim(),
  })
}

function isInterruption(error: unknown): boolean {
  return (
    (error instanceof GantryError && error.code === 'INTERRUPTED') ||
    (error instanceof Error && error.name === 'AbortError')
  )
}

/** The user must change something first: a key, a flag, a file. */
function isRefusal(error: unknown): boolean {
  return error instanceof GantryError && error.exitCode === exitCode.usage
}

/** Nothing ran and no model was asked, so the run is worth nothing and would only be in the way. */
function isUntouched({ run, files, budget }: EvaluationWork): boolean {
  return (
    run.manifest().resumed_at.length === 0 &&
    trialNames(files).length === 0 &&
    namesIn(files.generatedDir).length === 0 &&
    budget.state().spentUsd === 0
  )
}

/** A disk error while saving must not hide the original error. */
function noteError(work: EvaluationWork, error: unknown): void {
  try {
    work.advance((state, now) => stopped(state, error instanceof Error ? error.message : String(error), now))
  } catch {}
}
