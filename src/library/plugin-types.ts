// `gantry/types`: every type of the library, and the names that cc-plugin-eval has for those of plugins.

export type * from '../index.ts'
export type { Analysis as AnalysisOutput } from '../plugin/analyze/contract.ts'
export type { PluginConfig as EvalConfig } from '../plugin/config/keys/schema.ts'
export type { ComponentType } from '../plugin/contract.ts'
export type {
  Conflict as ConflictAnalysis,
  Detection as ProgrammaticDetection,
  JudgeCitation as Citation,
  PluginJudgement as MultiSampleResult,
  TrialEvaluation as EvaluationResult,
} from '../plugin/evaluate/contract.ts'
export type { EvaluationSummary as EvalMetrics } from '../plugin/evaluate/metrics/create-evaluation-fold.ts'
export type {
  Execution as ExecutionResult,
  HookResponse as HookResponseCapture,
  PluginTranscript as Transcript,
  SessionTiming as SessionTimingCapture,
  SubagentCapture,
  ToolCapture,
  TranscriptError as TranscriptErrorEvent,
  TranscriptEvent,
} from '../plugin/execute/contract.ts'
export type {
  PluginScenario as TestScenario,
  ScenarioType,
  SemanticVariation,
  SetupMessage,
} from '../plugin/generate/contract.ts'
export type { EvaluationState as PipelineState } from '../plugin/state/evaluation-state.ts'
