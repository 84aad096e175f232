import type { Execution } from '../../execute/contract.ts'
import type { PluginJudgement, TrialEvaluation } from '../contract.ts'
import { evaluateTrial, type TrialInput } from '../evaluate-trial.ts'
import type { GraderGate } from '../grader-gate.ts'
import type { EvaluationFold } from '../metrics/create-evaluation-fold.ts'
import { isMoot, readTrial, type StoredTrial } from './read-trial.ts'
import { unreadEvaluation } from './unread-evaluation.ts'

export type { StoredTrial } from './read-trial.ts'

/** A trial whose traces could be read, for whoever is asked about it. */
export type ReadTrial = Pick<TrialInput, 'scenario' | 'trial' | 'execution' | 'transcript' | 'known'>

export interface StoredOptions extends Pick<TrialInput, 'known' | 'config'> {
  readonly trials: Iterable<StoredTrial> | AsyncIterable<StoredTrial>
  readonly fold: EvaluationFold
  /** Told of every trial, as soon as it is evaluated. */
  readonly keep: (evaluation: TrialEvaluation, execution: Execution | null) => void | Promise<void>
  /** Asked for each trial that could be read and really happened; default: no judge. */
  readonly judge?: (trial: ReadTrial) => Promise<PluginJudgement | null>
  /** Default: no graders. */
  readonly grade?: (trial: ReadTrial) => Promise<{
    readonly gates: readonly GraderGate[]
    readonly costUsd: number | null
  }>
  /** Trials at a time, for judges and graders that have to be waited for. Default 1. */
  readonly concurrency?: number
  readonly signal?: AbortSignal
}

/**
 * Evaluates trials from what they left on disk, any number of them in the memory of a few. A trial whose execution or transcript
 * was cut or damaged becomes `invalid` and is reported as one to be made again; no other trial suffers from it.
 */
export async function evaluateStored(options: StoredOptions): Promise<void> {
  const waiting = iterate(options.trials)
  let stopped = false
  const worker = async (): Promise<void> => {
    try {
      while (!stopped) {
        const next = await waiting.next()
        if (next.done === true) return
        options.signal?.throwIfAborted()
        await evaluateOne(next.value, options)
      }
    } finally {
      // Nobody begins another trial after one of us failed, and none is left half done.
      stopped = true
    }
  }
  const workers = Array.from({ length: Math.max(1, options.concurrency ?? 1) }, worker)
  for (const end of await Promise.allSettled(workers)) if (end.status === 'rejected') throw end.reason
}

async function evaluateOne(stored: StoredTrial, options: StoredOptions): Promise<void> {
  const { trial, scenario } = stored
  const { known, config, fold, keep, judge, grade } = options
  const traces = await readTrial(stored)
  if (traces.kind === 'damaged') {
    const evaluation = unreadEvaluation(scenario, trial, traces.why, traces.execution)
    fold.add(evaluation, traces.execution, true)
    return keep(evaluation, traces.execution)
  }
  const { execution, transcript } = traces
  const read: ReadTrial = { scenario, trial, execution, transcript, known }
  // What says nothing about the plugin is not worth anybody's money.
  const [judgement, graded] = isMoot(execution)
    ? [null, null]
    : await Promise.all([judge?.(read) ?? null, grade?.(read) ?? null])
  const evaluation = evaluateTrial({
    ...read,
    config,
    judgement,
    graderGates: graded?.gates ?? [],
    graderCostUsd: graded === null ? 0 : graded.costUsd,
  })
  fold.add(evaluation, execution)
  return keep(evaluation, execution)
}

async function* iterate(trials: StoredOptions['trials']): AsyncGenerator<StoredTrial> {
  yield* trials
}
