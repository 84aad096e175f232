import type { ComponentType } from '../contract.ts'
import type { EvalCaseFacts } from './case-schema.ts'

export type { EvalCaseFacts, Grader, GraderTarget, MockServer, MockTool, ToolPattern } from './case-schema.ts'

/**
 * What the generation (stage 2) produces: the scenarios of `scenarios.json`. A case in the format of
 * `claude plugin eval` becomes a scenario too, with its graders.
 */

export const scenarioTypes = [
  'direct',
  'paraphrased',
  'edge_case',
  'negative',
  'proactive',
  'semantic',
] as const

export type ScenarioType = (typeof scenarioTypes)[number]

/** In the order in which the semantic scenarios of a skill get them. */
export const semanticVariationTypes = ['synonym', 'related_concept', 'structure', 'informal'] as const
export type SemanticVariation = (typeof semanticVariationTypes)[number]

/** One prompt for the agent and the expected result. An entry of `scenarios.json`. */
export interface PluginScenario {
  /** Letters, digits, `.`, `_`, `-`; unique in a run. */
  readonly id: string
  /** `name` of the component; empty when only graders decide. */
  readonly component_ref: string
  readonly component_type: ComponentType
  readonly expected_component: string
  readonly scenario_type: ScenarioType
  readonly user_prompt: string
  readonly expected_trigger: boolean
  readonly setup_messages?: readonly SetupMessage[]
  readonly original_trigger_phrase?: string
  readonly semantic_variation_type?: SemanticVariation
  readonly expected_file_references?: readonly string[]
  readonly reasoning?: string
  readonly origin: 'model' | 'template' | 'fallback' | 'file' | 'case'
  readonly tags?: readonly string[]
  /** Files the workspace begins with. */
  readonly files?: Readonly<Record<string, string>>
  /** Tools this scenario needs, even when they are disallowed by default. */
  readonly needs_tools?: readonly string[]
  /** Of a case in the format of `claude plugin eval`. */
  readonly case?: EvalCaseFacts
}

export interface SetupMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string
}
