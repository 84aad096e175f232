/** Gantry as a library: every face is usable without the command line. */
export type { AgentDriver, AgentHooks, AgentOutcome, AgentProbe, AgentRequest } from './agents/contract.ts'
export { bareAgents, createAgent } from './agents/index.ts'
export { loadProject, type Project } from './config/load.ts'
export { type ErrorCode, formatPosition, GantryError } from './core/error.ts'
export type { GantryEvent } from './core/event.ts'
export { type Evidence, evidenceStatus } from './core/evidence.ts'
export { type ExitCode, exitCode } from './core/exit-code.ts'
export type { CaseSummary, Rate, Regression, RunSummary } from './core/summary.ts'
export type { GateResult, InteractionMetrics, JudgeResult, TrialRecord } from './core/trial.ts'
export type { Verdict } from './core/verdict.ts'
export { version } from './core/version.ts'
export { type BehindSession, type ModelBehind, openBehind } from './models/boundary/behind.ts'
export type {
  Boundary,
  BoundarySession,
  ExchangeFacts,
  ModelEndpoint,
  SessionReport,
} from './models/boundary/contract.ts'
export { endpointVariables } from './models/boundary/contract.ts'
export { openBoundary } from './models/boundary/open-boundary.ts'
export { readBoundaryScript } from './models/boundary/script/read-boundary-script.ts'
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
  type ToolAnswer,
} from './models/contract.ts'
export { type ModelContext, resolveModel } from './models/index.ts'
export { modelAccess } from './models/model-access.ts'
export { builtInPrices, pricesAsOf } from './models/prices.ts'
export { selectModel } from './models/select-model.ts'
export type { FinishedRun, Reporter, RunHeader, TrialHeader } from './report/contract.ts'
export { checkGraders, type GraderCheck } from './scenario/check.ts'
export { estimateRun, type RunEstimate } from './scenario/estimate.ts'
export { loadScenarios } from './scenario/load-scenarios.ts'
export { type PreparedRun, prepareRun } from './scenario/prepare-run.ts'
export type { RunRequest, RunRequestInput } from './scenario/request.ts'
export { type RunResult, runPrepared } from './scenario/run.ts'
export { runScenarios, type ScenarioRunOptions } from './scenario/run-scenarios.ts'
export { type Validation, validateScenarios } from './scenario/validate.ts'
export type { Manifest, RunRow, Store, StoredRun } from './store/contract.ts'
export { openStore } from './store/open-store.ts'
