import type { GateResult, TokenUsage } from '../../core/trial.ts'
import type { Verdict } from '../../core/verdict.ts'
import type { ComponentType } from '../contract.ts'
import type { PluginTrial } from '../execute/contract.ts'
import type { ScenarioType, SemanticVariation } from '../generate/contract.ts'

/** What the evaluation (stage 4) decides about each trial: `evaluation.json`. */

/** How we know that a component fired. */
export type DetectionSource =
  | 'tool_capture'
  | 'expansion'
  | 'subagent_capture'
  | 'hook_response'
  | 'transcript'
  | 'llm'

/** A component that fired in a trial: of the plugin under test, of another plugin, or the CLI's own. */
export interface Detection {
  readonly component_type: ComponentType
  /** The author's name when it is a component of the plugin under test, else the CLI's. */
  readonly name: string
  readonly cli_name: string
  /** null: not of any plugin we know. */
  readonly plugin: string | null
  /** It belongs to Claude Code itself. */
  readonly built_in?: true
  readonly confidence: number
  readonly source: DetectionSource
  readonly evidence: string
  readonly tool_use_id?: string
  /** In the order in which they happened. */
  readonly timestamp: number
}

export const confidences = {
  tool_capture: 1,
  expansion: 1,
  subagent_capture: 1,
  hook_response: 1,
  transcript: 0.8,
  llm: 0.6,
} as const satisfies Readonly<Record<DetectionSource, number>>

export type ConflictSeverity = 'none' | 'low' | 'medium' | 'high'

export interface Conflict {
  readonly expected_component: string
  readonly expected_component_type: ComponentType
  readonly all_triggered_components: readonly Pick<
    Detection,
    'component_type' | 'name' | 'plugin' | 'confidence'
  >[]
  readonly has_conflict: boolean
  readonly conflict_severity: ConflictSeverity
  readonly conflict_reason?: string
}

/** One judge's answer, or that there was none. */
export type JudgeVote =
  | {
      readonly kind: 'scored'
      readonly quality_score: number
      readonly response_relevance: number
      readonly trigger_accuracy: 'correct' | 'incorrect' | 'partial'
      /** Whether the expected component fired, according to the judge. */
      readonly triggered: boolean
      readonly issues: readonly string[]
      readonly highlights: readonly JudgeCitation[]
      readonly summary: string
    }
  | { readonly kind: 'error'; readonly message: string }

/** A place in the transcript. A citation that is not in the transcript is dropped and counted. */
export interface JudgeCitation {
  readonly description: string
  readonly message_id: string
  readonly quoted_text: string
  readonly position_start?: number
  readonly position_end?: number
}

export interface PluginJudgement {
  readonly model: string
  readonly quality_score: number | null
  readonly response_relevance: number | null
  readonly trigger_accuracy: 'correct' | 'incorrect' | 'partial' | null
  /** The majority's. */
  readonly triggered: boolean | null
  readonly score_variance: number
  readonly is_unanimous: boolean
  readonly confidence_level: 'high' | 'medium' | 'low'
  readonly issues: readonly string[]
  readonly highlights: readonly JudgeCitation[]
  /** Citations whose text is not in the transcript. */
  readonly dropped_citations: number
  readonly summary: string
  readonly votes: readonly JudgeVote[]
  readonly cost_usd: number | null
  /** Absent in a judgement of an older version. */
  readonly tokens?: TokenUsage
  readonly batched: boolean
}

/** What one model used for a trial. */
export interface ModelUse {
  readonly model: string
  readonly tokens: TokenUsage
  /** null = unmetered. */
  readonly cost_usd: number | null
}

/** The evaluation of one trial in stage 4, stored as `evaluation.json` in the trial's directory. */
export interface TrialEvaluation {
  readonly trial: PluginTrial
  readonly scenario_id: string
  readonly component_type: ComponentType
  readonly expected_component: string
  readonly scenario_type: ScenarioType
  readonly semantic_variation_type?: SemanticVariation
  readonly expected_trigger: boolean
  readonly triggered: boolean
  /** Of the detection of the expected component; 1 when it is certain that it did not fire. */
  readonly confidence: number
  readonly detection_source: 'programmatic' | 'llm' | 'both'
  readonly detections: readonly Detection[]
  readonly conflict: Conflict
  readonly quality_score: number | null
  readonly judgement: PluginJudgement | null
  /** The trigger itself and every grader of a case. */
  readonly gates: readonly GateResult[]
  /** Weighted share of graders passed; null without graders. */
  readonly grader_score: number | null
  readonly verdict: Verdict
  /** As in the record of the trial. */
  readonly untried?: true
  readonly reason: string
  readonly evidence: readonly string[]
  readonly issues: readonly string[]
  readonly summary: string
  readonly cost_usd: number | null
  readonly evaluation_cost_usd: number | null
  /** What graders that ask a model used; that of the judge is in `judgement`. Absent without such graders. */
  readonly grader_usage?: ModelUse
  readonly duration_ms: number
  readonly tokens: TokenUsage | null
}
