/** Gantry as a library: every face is usable without the command line. */

export { builtinToolCall } from './agents/builtin/hooks.ts'
export type { AgentDriver, AgentHooks, AgentOutcome, AgentProbe, AgentRequest } from './agents/contract.ts'
export type { HookCapabilities, HookCodec, HookReply } from './agents/hook-codec.ts'
export { detectCaller, type HookedAgent, hookCodecs } from './agents/hook-codecs.ts'
export { bareAgents, createAgent } from './agents/index.ts'
export { loadProject, type Project } from './config/load.ts'
export type { Decision, EndState, RuleFinding } from './core/decision.ts'
export { type ErrorCode, formatPosition, GantryError } from './core/error.ts'
export type { GantryEvent } from './core/event.ts'
export { type Evidence, evidenceStatus } from './core/evidence.ts'
export { type ExitCode, exitCode } from './core/exit-code.ts'
export type { GuardedAgent, HookEvent, ToolAction, ToolCall, ToolOutcome } from './core/hook-event.ts'
export type { CaseSummary, Rate, Regression, RunSummary } from './core/summary.ts'
export type { GateResult, InteractionMetrics, JudgeResult, TrialRecord } from './core/trial.ts'
export type { Verdict } from './core/verdict.ts'
export { version } from './core/version.ts'
export { type Explanation, explain } from './guard/explain.ts'
export { answerHook } from './guard/hook/answer-hook.ts'
export { type PreparedPlan, preparePlan } from './guard/plan/prepare-plan.ts'
export { planExitCodes, runPlan } from './guard/plan/run-plan.ts'
export { type GuardProof, prove } from './guard/prove/prove.ts'
export { type Simulation, simulate } from './guard/simulate.ts'
export { type AgentStatus, guardStatus, isArmed } from './guard/status/guard-status.ts'
export { readTrace } from './guard/trace/read-trace.ts'
export type { TraceReport } from './guard/trace/trace-report.ts'
export { type ProjectVerification, verifyProject } from './guard/verify-project.ts'
export { guardHooks } from './guard-engine/agent-hooks.ts'
export type { History, LedgerEntry, Note } from './guard-engine/contract.ts'
export { decide } from './guard-engine/decide.ts'
export { treeFingerprint } from './guard-engine/facts/tree-fingerprint.ts'
export { guardHome } from './guard-engine/ledger/ledger-place.ts'
export { type Guard, openGuard } from './guard-engine/open-guard.ts'
export { type Plan, parsePlan } from './guard-engine/project/parse-plan.ts'
export { type ReadSettings, readSettings } from './guard-engine/settings/read-settings.ts'
export type { Settings } from './guard-engine/settings/settings.ts'
export { type InstallOutcome, installHooks } from './guard-install/install-hooks.ts'
export { type UninstallOutcome, uninstallHooks } from './guard-install/uninstall-hooks.ts'
export type {
  Boundary,
  BoundarySession,
  ExchangeFacts,
  ModelEndpoint,
  SessionReport,
} from './models/boundary/contract.ts'
export { endpointVariables } from './models/boundary/contract.ts'
export type { ModelLink } from './models/boundary/model-link.ts'
export { openBoundary } from './models/boundary/open-boundary.ts'
export { type LinkSession, openModelLink } from './models/boundary/open-model-link.ts'
export { readBoundaryScript } from './models/boundary/script/schema.ts'
export { createBudget } from './models/budget.ts'
export {
  type LoopAnswer,
  type LoopRequest,
  type LoopStep,
  type Model,
  type ModelAnswer,
  type ModelFailure,
  modelFailureOf,
  type Tool,
  type ToolResult,
} from './models/contract.ts'
export { type ModelContext, resolveModel } from './models/index.ts'
export { modelAccess } from './models/model-access.ts'
export { builtInPrices, pricesAsOf } from './models/prices.ts'
export { selectModel } from './models/select-model.ts'
export { analyzePlugin } from './plugin/analyze/analyze-plugin.ts'
export type { Analysis } from './plugin/analyze/contract.ts'
export { loadConfigWithOverrides } from './plugin/config/load-config.ts'
export type { PluginStep } from './plugin/contract.ts'
export type { Detection, TrialEvaluation } from './plugin/evaluate/contract.ts'
export type { EvaluationSummary } from './plugin/evaluate/metrics/evaluation-summary.ts'
export { evaluatePlugin, type PluginEvaluationOptions } from './plugin/evaluate-plugin.ts'
export type { Execution, PluginTranscript as Transcript } from './plugin/execute/contract.ts'
export type { PluginScenario } from './plugin/generate/contract.ts'
export { tryHooks } from './plugin/hook-lab/try-hooks.ts'
export type { EvaluationDocument } from './plugin/pipeline/evaluation-document.ts'
export { evaluationTargets } from './plugin/pipeline/evaluation-target.ts'
export type {
  EvaluationContext,
  EvaluationRequest,
  EvaluationWork,
} from './plugin/pipeline/evaluation-work.ts'
export { openEvaluation } from './plugin/pipeline/open-evaluation.ts'
export { resumeEvaluation } from './plugin/pipeline/resume-evaluation.ts'
export { runAnalysis } from './plugin/pipeline/run-analysis.ts'
export { runEvaluation } from './plugin/pipeline/run-evaluation.ts'
export { runExecution } from './plugin/pipeline/run-execution.ts'
export { runGeneration } from './plugin/pipeline/run-generation.ts'
export { type EvaluationEnd, runStages } from './plugin/pipeline/run-stages.ts'
export { consoleProgress } from './plugin/report/console-progress.ts'
export type { FinishedRun, Reporter, RunHeader, TrialHeader } from './report/contract.ts'
export type { Rule, RuleAnswer, Scene } from './rules/contract.ts'
export { rules } from './rules/index.ts'
export type { Sandbox, SandboxEngine, SandboxReport, SandboxRequest } from './sandboxes/contract.ts'
export { chooseEngine, sandboxEngines } from './sandboxes/index.ts'
export { checkGraders, type GraderCheck } from './scenario/check.ts'
export { estimateRun, type RunEstimate } from './scenario/estimate.ts'
export type { RunResult } from './scenario/finish-run.ts'
export { loadScenarios } from './scenario/load-case.ts'
export { type PreparedRun, prepareRun } from './scenario/prepare-run.ts'
export type { RunRequest, RunRequestInput } from './scenario/request.ts'
export { runPrepared, runScenarios, type ScenarioRunOptions } from './scenario/run.ts'
export { type Validation, validateScenarios } from './scenario/validate.ts'
export type { World } from './shell/world.ts'
export type { Manifest, RunRow, Store, StoredRun } from './store/contract.ts'
export { openStore } from './store/open-store.ts'
export type {
  FinalState,
  QueuedTask,
  StoredTaskEvent,
  TaskFilter,
  TaskQueue,
  TaskRecord,
  TaskState,
} from './store/queue/contract.ts'
export { openQueue } from './store/queue/open-queue.ts'
export type { ParsedTask, TaskEvent, TaskStep } from './task/contract.ts'
export { parseTask } from './task/parse-task.ts'
export { type TaskReports, taskReports } from './task/task-reports.ts'
export { type TaskMetrics, taskMetrics } from './task/telemetry/task-metrics.ts'
export { checkSubmission } from './task/validate-start.ts'
export type { WorkerContext } from './task/worker/do-task.ts'
export { submitTask, type TaskSubmission } from './task/worker/submit-task.ts'
export { type QueueWorkOptions, workOnQueue } from './task/worker/work-on-queue.ts'
export { type ReadAgentFile, readAgentFile } from './verifier/agent-file.ts'
export type { AgentFile, VerifierResponse, VerifyEvent } from './verifier/contract.ts'
export { type FoundVerification, findVerification } from './verifier/find-verification.ts'
export {
  type RepositoryRequest,
  type VerifiedRepository,
  verifyRepository,
} from './verifier/verify-repository.ts'
