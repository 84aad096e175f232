import { forEachLimited } from '../../../core/for-each-limited.ts'
import type { Execution, PluginTrial } from '../../execute/contract.ts'
import type { PluginScenario } from '../../generate/contract.ts'
import type { ModelUse, PluginJudgement, TrialEvaluation } from '../contract.ts'
import { evaluateTrial, scenarioFacts, type TrialInput } from '../evaluate-trial.ts'
import type { EvaluationFold } from '../metrics/create-evaluation-fold.ts'
import type { GraderGate } from '../trial-verdict.ts'
import { isUninformative, readTrial, type StoredTrial } from './read-trial.ts'

export type { StoredTrial } from './read-trial.ts'

/** A trial whose traces could be read, as judges and graders get it. */
export type ReadTrial = Pick<TrialInput, 'scenario' | 'trial' | 'execution' | 'transcript' | 'known'>

export interface StoredOptions extends Pick<TrialInput, 'known' | 'config'> {
  readonly trials: Iterable<StoredTrial>
  readonly fold: EvaluationFold
  /** Called for every trial as soon as it is evaluated. */
  readonly keep: (evaluation: TrialEvaluation, execution: Execution | null) => void | Promise<void>
  /** Called for each readable trial that did not fail for infrastructure reasons. Default: no judge. */
  readonly judge?: (trial: ReadTrial) => Promise<PluginJudgement | null>
  /** Default: no graders. */
  readonly grade?: (trial: ReadTrial) => Promise<{
    readonly gates: readonly GraderGate[]
    readonly costUsd: number | null
    readonly usage?: ModelUse
  }>
  /** Trials at a time, while judges and graders are awaited. Default 1. */
  readonly concurrency?: number
  readonly signal?: AbortSignal
}

/**
 * Evaluates stored trials, a few at a time, so that memory does not grow with their number. A trial whose execution or
 * transcript is damaged becomes `invalid` and is reported as one to run again. Other trials are not affected.
 */
export async function evaluateStored(options: StoredOptions): Promise<void> {
  const { trials, concurrency = 1, signal } = options
  await forEachLimited(Math.max(1, concurrency), trials, async (trial) => {
    signal?.throwIfAborted()
    await evaluateOne(trial, options)
  })
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
  // A trial that says nothing about the plugin is not worth paying for.
  const [judgement, graded] = isUninformative(execution)
    ? [null, null]
    : await Promise.all([judge?.(read) ?? null, grade?.(read) ?? null])
  const evaluation = evaluateTrial({
    ...read,
    config,
    judgement,
    graderGates: graded?.gates ?? [],
    graderCostUsd: graded === null ? 0 : graded.costUsd,
    ...(graded?.usage !== undefined && { graderUsage: graded.usage }),
  })
  fold.add(evaluation, execution)
  return keep(evaluation, execution)
}

/** A trial whose traces cannot be read: it must run again. Its cost is known when its execution is readable. */
function unreadEvaluation(
  scenario: PluginScenario,
  trial: PluginTrial,
  why: string,
  execution: Execution | null,
): TrialEvaluation {
  const reason = `${why}; run trial ${trial.id} again`
  return {
    trial,
    ...scenarioFacts(scenario),
    triggered: false,
    confidence: 0,
    detection_source: 'programmatic',
    detections: [],
    conflict: {
      expected_component: scenario.expected_component,
      expected_component_type: scenario.component_type,
      all_triggered_components: [],
      has_conflict: false,
      conflict_severity: 'none',
    },
    quality_score: null,
    judgement: null,
    gates: [],
    grader_score: null,
    verdict: 'invalid',
    reason,
    evidence: [],
    issues: [],
    summary: reason,
    cost_usd: execution?.cost_usd ?? null,
    evaluation_cost_usd: 0,
    duration_ms: execution?.duration_ms ?? 0,
    tokens: execution?.tokens ?? null,
  }
}
