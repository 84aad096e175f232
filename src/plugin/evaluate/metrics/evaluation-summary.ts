import type { Rate } from '../../../core/summary.ts'
import type { TokenUsage } from '../../../core/trial.ts'
import type { Verdict } from '../../../core/verdict.ts'
import type { Arm, ComponentType } from '../../contract.ts'
import type { ScenarioType, SemanticVariation } from '../../generate/contract.ts'
import type { ArmComparison } from '../arms/arm-comparison.ts'
import type { ConflictSeverity } from '../contract.ts'

/**
 * The summary of an evaluation; part of `evaluation.json`. Counts are of counted trials (`pass` and `fail`). Every rate weighs
 * each scenario once, however often it was repeated, and has a 95% interval.
 */
export interface EvaluationSummary extends ArmMetrics {
  /** The arm of the numbers at this level: alone, else crowd, else without. */
  readonly arm: Arm
  /** Over all arms. */
  readonly trials: number
  readonly counts: Readonly<Record<Verdict, number>>
  readonly by_arm: Readonly<Partial<Record<Arm, ArmMetrics>>>
  readonly comparison: ArmComparison
  readonly costs: CostSummary
  readonly errors: { readonly error_count: number; readonly errors_by_type: Readonly<Record<string, number>> }
  readonly cache_stats: CacheStats
  readonly multi_sample_stats: MultiSampleStats | null
  readonly judge: {
    readonly judged: number
    readonly judge_errors: number
    readonly dropped_citations: number
  }
  /** Trials whose recording no longer matches. */
  readonly needs_recording: readonly string[]
  /** Trials that must run again: their traces are damaged or missing. */
  readonly damaged: readonly string[]
}

/** One arm by itself. */
export interface ArmMetrics {
  readonly total_scenarios: number
  readonly total_trials: number
  readonly verdicts: Readonly<Record<Verdict, number>>
  /** Of all trials, including those that failed for infrastructure reasons: execution and evaluation, as far as known. */
  readonly cost_usd: number
  /** Of trials, by their verdict. */
  readonly pass_rate: Rate
  /** Trials that expect a component; the fields below are about them. */
  readonly trigger_trials: number
  readonly triggered_count: number
  readonly trigger_rate: Rate
  /** Fired exactly when it should. */
  readonly accuracy: Rate
  /** Scores above 0, including the default of unjudged trials that triggered correctly. */
  readonly avg_quality: number | null
  readonly avg_grader_score: number | null
  readonly by_component: Readonly<Record<string, ComponentMetrics>>
  readonly by_scenario_type: Readonly<Partial<Record<ScenarioType, TypeMetrics>>>
  readonly by_component_type: Readonly<Partial<Record<ComponentType, TypeMetrics>>>
  readonly confusion: readonly ConfusionRow[]
  readonly conflicts: {
    readonly count: number
    readonly by_severity: Readonly<Record<Exclude<ConflictSeverity, 'none'>, number>>
  }
  readonly semantic_stats: SemanticStats | null
  readonly repetition_stats: RepetitionStats | null
}

export interface TypeMetrics {
  readonly scenarios_count: number
  readonly trials_count: number
  readonly trigger_rate: Rate
  readonly accuracy: Rate
  readonly avg_quality: number | null
  readonly false_positives: number
  readonly false_negatives: number
}

export interface ComponentMetrics extends TypeMetrics {
  readonly component_type: ComponentType
  readonly true_positives: number
  readonly true_negatives: number
  /** Trials that expected another component, which stayed quiet while this one fired. */
  readonly fired_instead: number
  /** Of the times it fired, how often it should have: firing in another's place counts against it. */
  readonly precision: Rate
  /** Of the times it should have fired, how often it did. */
  readonly recall: Rate
  readonly f1: Rate
}

/** `expected` is a component (`skill:greet`) or `none`. `fired` lists what fired in its scenarios, the expected one first. */
export interface ConfusionRow {
  readonly expected: string
  readonly fired: readonly {
    /** A component, with the plugin before it when it is another one (`other/skill:other:greet`), or `none`. */
    readonly component: string
    readonly count: number
    /** Some of the scenarios in which it happened. */
    readonly scenarios: readonly string[]
  }[]
}

export interface CostSummary {
  /** The known cost; `unmetered_trials` are not included. */
  readonly total_cost_usd: number
  readonly avg_cost_per_scenario: number | null
  readonly generation_cost_usd: number | null
  /** Includes the plugin load and lost costs. */
  readonly execution_cost_usd: number
  readonly plugin_load_cost_usd: number
  /** For trials that ran again, and attempts that were cut off. */
  readonly lost_cost_usd: number
  readonly evaluation_cost_usd: number
  /** What the same tokens cost at list price, as far as known: without what scripts and recordings saved. */
  readonly list_price_usd: number
  readonly unmetered_trials: number
  readonly total_api_duration_ms: number
  /** Every amount once. The totals above are sums over its `paid_usd`. */
  readonly ledger: readonly CostRow[]
  /** The ledger by stage and model. */
  readonly by_model: readonly ModelCost[]
}

export interface CostRow {
  readonly stage: 'generation' | 'execution' | 'evaluation'
  /** `failed_tries`: attempts that were repeated. `lost`: trials that ran again, attempts that were cut off, answers of an earlier judge. */
  readonly kind: 'scenarios' | 'load' | 'trials' | 'failed_tries' | 'lost' | 'judge' | 'graders'
  /** null outside of trials. */
  readonly arm: Arm | null
  /** null when it is not known which. */
  readonly model: string | null
  /** Of trials or calls. */
  readonly count: number
  readonly tokens: TokenUsage | null
  /** null = unmetered. */
  readonly paid_usd: number | null
  /** null when the model has no known price. */
  readonly list_usd: number | null
}

export interface ModelCost {
  readonly model: string
  readonly stage: CostRow['stage']
  /** null when not reported. */
  readonly tokens: TokenUsage | null
  /** The list price; null when no call of it had a known price. */
  readonly cost_usd: number | null
  /** null = unmetered. */
  readonly paid_usd: number | null
  readonly trials: number
}

export interface CacheStats {
  readonly cache_read_tokens: number
  readonly cache_creation_tokens: number
  /** Plain, read and written. */
  readonly input_tokens: number
  /** Of all input, what was read from a cache. */
  readonly hit_rate: number | null
  /** Against the same tokens as plain input; null when a model has no known price. Negative when writing cost more than reading saved. */
  readonly savings_usd: number | null
}

export interface MultiSampleStats {
  readonly samples_per_scenario: number
  readonly avg_score_variance: number
  readonly high_variance_scenarios: readonly string[]
  /** Of the judged trials, those with a unanimous verdict. */
  readonly consensus_rate: number
}

export interface SemanticStats {
  readonly total: number
  readonly trigger_rate: Rate
  readonly by_variation: Readonly<
    Partial<Record<SemanticVariation | 'unnamed', { readonly count: number; readonly trigger_rate: Rate }>>
  >
}

export interface RepetitionStats {
  readonly reps_per_scenario: number
  /** Of the scenarios tried more than once, those that always ended the same way. */
  readonly consistency_rate: number
  readonly flaky_scenarios: readonly {
    readonly scenario_id: string
    readonly passed: number
    readonly trials: number
  }[]
}
