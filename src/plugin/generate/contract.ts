import type { ComponentType } from '../contract.ts'

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
  /** Where it came from. */
  readonly origin: 'model' | 'template' | 'fallback' | 'file' | 'case'
  readonly tags?: readonly string[]
  /** Files the workspace begins with. */
  readonly files?: Readonly<Record<string, string>>
  /** Tools this scenario cannot do without, although they are disallowed by default. */
  readonly needs_tools?: readonly string[]
  /** Of a case in the format of `claude plugin eval`. */
  readonly case?: EvalCaseFacts
}

export interface SetupMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string
}

/** The fields of a `claude plugin eval` case beyond prompt and expectation. */
export interface EvalCaseFacts {
  readonly dir: string
  readonly graders: readonly Grader[]
  readonly runs?: number
  readonly model?: string
  readonly max_turns?: number
  readonly timeout_ms?: number
  readonly allowed_tools?: readonly string[]
  readonly disallowed_tools?: readonly string[]
  readonly append_system_prompt?: string
  readonly env?: Readonly<Record<string, string>>
  readonly plugins?: readonly string[]
  /** Absolute. */
  readonly scaffold_script?: string
  readonly history_file?: string
  readonly add_dirs?: readonly string[]
}

export type GraderTarget =
  | 'last_message'
  | 'trace'
  | 'files'
  | 'mock_calls'
  | { readonly source: 'file'; readonly path: string }

export interface ToolPattern {
  readonly tool: string
  readonly input_match?: string | Readonly<Record<string, unknown>>
}

interface GraderFacts {
  readonly name: string
  readonly weight: number
  readonly arm: 'default' | 'with-only' | 'both'
}

export type Grader = GraderFacts &
  (
    | {
        readonly type: 'regex'
        readonly pattern: string
        readonly flags: string
        readonly match: 'contains' | 'not_contains' | { readonly count: number }
        readonly target: GraderTarget
      }
    | {
        readonly type: 'tool_used'
        readonly use: ToolPattern
        readonly min: number
        readonly max: number | null
      }
    | { readonly type: 'tool_order'; readonly before: ToolPattern; readonly after: ToolPattern }
    | { readonly type: 'file_exists'; readonly path: string; readonly exists: boolean }
    | { readonly type: 'llm'; readonly criteria: string; readonly focus: GraderTarget }
    | { readonly type: 'baseline'; readonly baseline_file: string; readonly criteria: string }
  )
