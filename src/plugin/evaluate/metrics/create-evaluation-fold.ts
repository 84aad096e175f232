import { settled } from '../../../core/case-tally.ts'
import { isCounted, verdicts as verdictNames } from '../../../core/verdict.ts'
import type { PriceTable } from '../../../models/price-table.ts'
import { type Arm, arms } from '../../contract.ts'
import type { Execution } from '../../execute/contract.ts'
import { type ArmScenario, compareArms } from '../arms/compare-arms.ts'
import type { TrialEvaluation } from '../contract.ts'
import { type ArmTally, accuracyShare, armMetrics, createArmTally, triggerShare } from './arm-metrics.ts'
import { cacheStats, createCostTally, type OtherCosts } from './cost-tally.ts'
import { addToScenario, createScenarioTally, meanOf, type ScenarioTally } from './scenario-tally.ts'

export interface FoldOptions {
  /** The plugin under test. */
  readonly plugin: string
  /** To compute what caches saved. */
  readonly prices: PriceTable
}

/** The fields of an execution that the fold uses. */
export type FoldedExecution = Pick<
  Execution,
  | 'num_turns'
  | 'api_duration_ms'
  | 'errors'
  | 'model_usage'
  | 'failure'
  | 'needs_recording'
  | 'earlier_cost_usd'
>

export type EvaluationFold = ReturnType<typeof createEvaluationFold>

/**
 * The summary of an evaluation; part of `evaluation.json`. Counts are of counted trials (`pass` and `fail`). Every rate weighs
 * each scenario once, however often it was repeated, and has a 95% interval.
 */
export type EvaluationSummary = ReturnType<EvaluationFold['finish']>

/**
 * Folds trials into the summary of an evaluation. Memory grows with the number of scenarios, not of trials, and the order of
 * adding does not matter.
 */
export function createEvaluationFold({ plugin, prices }: FoldOptions) {
  const scenarios = new Map<string, ScenarioTally>()
  const byArm = new Map<Arm, ArmTally>()
  const costs = createCostTally(prices)
  const judges = createJudgeTally()
  const errors = new Map<string, number>()
  const needsRecording = new Set<string>()
  const damaged = new Set<string>()

  /** `execution` is null when it cannot be read. `isDamaged`: the traces cannot be read and the trial must run again. */
  const add = (evaluation: TrialEvaluation, execution: FoldedExecution | null, isDamaged = false): void => {
    const { trial, verdict, conflict } = evaluation
    const arm = byArm.get(trial.arm) ?? createArmTally()
    byArm.set(trial.arm, arm)
    arm.verdicts[verdict] += 1
    arm.costUsd += (evaluation.cost_usd ?? 0) + (evaluation.evaluation_cost_usd ?? 0)
    if (isCounted(verdict) && conflict.conflict_severity !== 'none')
      arm.conflicts[conflict.conflict_severity] += 1
    const key = `${trial.arm} ${evaluation.scenario_id}`
    const tally = scenarios.get(key) ?? createScenarioTally(evaluation)
    scenarios.set(key, tally)
    addToScenario(tally, evaluation, execution?.num_turns ?? null, plugin)
    costs.add(evaluation, execution)
    judges.add(evaluation)
    const types = [...errorTypes(evaluation, execution), ...(isDamaged ? ['damaged'] : [])]
    for (const type of types) errors.set(type, (errors.get(type) ?? 0) + 1)
    if (execution?.needs_recording === true) needsRecording.add(trial.id)
    if (isDamaged) damaged.add(trial.id)
  }

  /** Call it once, when all trials are added. */
  const finish = (other: OtherCosts = {}) => {
    const sorted = [...scenarios].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, tally]) => tally)
    const metrics = new Map(
      arms.flatMap((arm) => {
        const tally = byArm.get(arm)
        const own = sorted.filter((scenario) => scenario.arm === arm)
        return tally === undefined ? [] : [[arm, armMetrics(tally, own)] as const]
      }),
    )
    const arm = (['alone', 'crowd', 'without'] as const).find((one) => metrics.has(one)) ?? ('alone' as const)
    const spent = costs.finish(other, new Set(sorted.map(({ scenario_id }) => scenario_id)).size)
    const types = [...errors].toSorted(([a], [b]) => (a < b ? -1 : 1))
    const counts = createArmTally().verdicts
    for (const { verdicts } of byArm.values())
      for (const verdict of verdictNames) counts[verdict] += verdicts[verdict]
    return {
      ...(metrics.get(arm) ?? armMetrics(createArmTally(), [])),
      /** The arm of the numbers at this level: alone, else crowd, else without. */
      arm,
      // Of the whole run, as in its manifest.
      cost_usd: spent.total_cost_usd,
      /** Over all arms, like `counts`. */
      trials: counts.pass + counts.fail + counts.infra + counts.invalid,
      counts,
      by_arm: Object.fromEntries(metrics),
      comparison: compareArms(sorted.map(armScenario)),
      costs: spent,
      errors: {
        error_count: types.reduce((total, [, count]) => total + count, 0),
        errors_by_type: Object.fromEntries(types),
      },
      cache_stats: cacheStats(spent.by_model, prices),
      multi_sample_stats: judges.samples(),
      judge: judges.stats(),
      /** Trials whose recording no longer matches. */
      needs_recording: [...needsRecording].sort(),
      /** Trials that must run again: their traces are damaged or missing. */
      damaged: [...damaged].sort(),
    }
  }

  return { add, finish }
}

/** A failure that is also in the list of errors is one error. */
function errorTypes({ judgement }: TrialEvaluation, execution: FoldedExecution | null): readonly string[] {
  const { errors = [], failure } = execution ?? {}
  return [
    ...errors.map(({ error_type }) => error_type),
    ...(failure === undefined || errors.length > 0 ? [] : [failure.reason]),
    ...(judgement?.votes ?? []).flatMap(({ kind }) => (kind === 'error' ? ['judge'] : [])),
  ]
}

function armScenario(tally: ScenarioTally): ArmScenario {
  const asks = tally.triggerTrials > 0
  return {
    scenario_id: tally.scenario_id,
    arm: tally.arm,
    component: tally.component,
    expected_trigger: tally.expected_trigger,
    trials: tally.trials,
    triggered: asks ? triggerShare(tally) : null,
    instead: Object.fromEntries(tally.instead),
    accuracy: asks ? accuracyShare(tally) : null,
    grader_score: meanOf(tally.graderScore),
    // Default scores of unjudged trials say nothing about the difference between arms.
    quality: meanOf(tally.judgedQuality),
    cost_usd: meanOf(tally.costUsd),
    turns: meanOf(tally.turns),
    duration_ms: meanOf(tally.durationMs),
  }
}

/** Above this variance the judges disagree. */
const highVariance = 1

/** Statistics of the judges. Failed votes are counted separately and enter no mean. */
function createJudgeTally() {
  let judged = 0
  let judgeErrors = 0
  let droppedCitations = 0
  let sampled = 0
  let mostSamples = 0
  let variance = 0
  let unanimous = 0
  const divided = new Set<string>()
  return {
    add: ({ judgement, verdict, scenario_id }: TrialEvaluation): void => {
      if (judgement === null) return
      const scored = judgement.votes.filter(({ kind }) => kind === 'scored').length
      judgeErrors += judgement.votes.length - scored
      droppedCitations += judgement.dropped_citations
      if (!isCounted(verdict) || judgement.quality_score === null) return
      judged += 1
      if (scored < 2) return
      sampled += 1
      mostSamples = Math.max(mostSamples, scored)
      variance += judgement.score_variance
      if (judgement.is_unanimous) unanimous += 1
      if (judgement.score_variance > highVariance) divided.add(scenario_id)
    },
    stats: () => ({ judged, judge_errors: judgeErrors, dropped_citations: droppedCitations }),
    samples: () =>
      sampled === 0
        ? null
        : {
            samples_per_scenario: mostSamples,
            avg_score_variance: settled(variance / sampled),
            high_variance_scenarios: [...divided].sort(),
            /** Of the judged trials, those with a unanimous verdict. */
            consensus_rate: settled(unanimous / sampled),
          },
  }
}
