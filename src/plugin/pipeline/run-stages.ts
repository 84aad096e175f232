import { GantryError } from '../../core/error.ts'
import type { RunSummary } from '../../core/summary.ts'
import type { Reporter } from '../../report/contract.ts'
import { applyRetention } from '../../store/apply-retention.ts'
import { withResumeHint } from '../../trials/resume-hint.ts'
import { nextStage, stopped } from '../state/evaluation-state.ts'
import type { EvaluationWork } from './evaluation-work.ts'
import { runAnalysis } from './run-analysis.ts'
import { runEvaluation } from './run-evaluation.ts'
import { runExecution } from './run-execution.ts'
import { runGeneration } from './run-generation.ts'

export interface EvaluationEnd {
  readonly runId: string
  readonly runDir: string
  readonly pluginName: string
  /** null when the run ended before the last stage. */
  readonly summary: RunSummary | null
  readonly interrupted: boolean
}

/** Runs the remaining stages one after the other. Finished work survives any end of this process. */
export async function runStages(
  work: EvaluationWork,
  reporter: Reporter,
  options: RunStagesOptions,
): Promise<EvaluationEnd> {
  const { run, context } = work
  let summary: RunSummary | null = null
  try {
    for (let stage = nextStage(work.state()); stage !== null; stage = nextStage(work.state())) {
      if (context.signal.aborted) break
      switch (stage) {
        case 'analysis':
          await runAnalysis(work)
          break
        case 'generation':
          await options.beforeSpending?.(work)
          await runGeneration(work)
          break
        case 'execution':
          await runExecution(work)
          break
        case 'evaluation':
          summary = await runEvaluation(work, reporter, options)
          break
      }
      if (stage === 'evaluation') break
    }
  } catch (error) {
    if (!context.signal.aborted) {
      noteError(work, error)
      throw work.state().stage === 'pending' ? error : withResumeHint(error, run, 'gantry plugin resume')
    }
    if (!isInterruption(error)) throw error
  }
  const interrupted = context.signal.aborted
  if (summary === null) await run.end({ status: interrupted ? 'interrupted' : 'partial' })
  if (!interrupted) applyRetention(context.store, { protect: [run.id] })
  return { runId: run.id, runDir: run.dir, pluginName: work.state().plugin_name, summary, interrupted }
}

export interface RunStagesOptions {
  /** Pass rate every scenario must reach. Default 1. */
  readonly threshold?: number
  /** Called after the analysis, before anything costs money. */
  readonly beforeSpending?: (work: EvaluationWork) => Promise<void>
}

function isInterruption(error: unknown): boolean {
  return (
    (error instanceof GantryError && error.code === 'INTERRUPTED') ||
    (error instanceof Error && error.name === 'AbortError')
  )
}

/** A disk that takes no note of it must not hide what went wrong first. */
function noteError(work: EvaluationWork, error: unknown): void {
  try {
    work.advance((state, now) => stopped(state, error instanceof Error ? error.message : String(error), now))
  } catch {}
}
