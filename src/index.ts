/**
 * Gantry as a library: every face without the command line, with the functions that its commands call. Each function loads its part when it is called, so that a module which
 * only defines a gate, a reporter or an agent starts at once. docs/library.md has an example of each.
 */

/** Runs scenarios, as `gantry test` does. The request has the flags of that command, the options what only a caller can pass in. */
export const runScenarios = onCall(async () => (await import('./scenario/run-scenarios.ts')).runScenarios)

/** The trials, the cost and the time of a run, before it is made. Runs nothing. */
export const planScenarios = onCall(async () => (await import('./scenario/run-scenarios.ts')).planScenarios)

/** Every scenario file with what is wrong with it. One broken file does not hide the others. */
export const validateScenarios = onCall(
  async () => (await import('./scenario/validate.ts')).validateScenarios,
)

/** Tries the gates of scenarios with an agent that does nothing, which must fail, and with the scenario's own solution. */
export const checkScenarios = onCall(async () => (await import('./scenario/run-scenarios.ts')).checkScenarios)

/** Reads the files of a plugin and reports what is wrong with them. Starts nothing and calls no model. */
export const analyzePlugin = onCall(async () => (await import('./library/analyze-plugin.ts')).analyzePlugin)

/** Evaluates plugins, as `gantry plugin run` does: one end for every plugin. */
export const evaluatePlugin = onCall(async () => (await import('./plugin/evaluate-plugin.ts')).evaluatePlugin)

/** The settings of a plugin evaluation, as cc-plugin-eval loads them. */
export const loadConfigWithOverrides = onCall(
  async () => (await import('./library/plugin-eval-names.ts')).loadConfigWithOverrides,
)

/** Stage 1 of a plugin evaluation, with the arguments of cc-plugin-eval. */
export const runAnalysis = onCall(async () => (await import('./library/plugin-eval-names.ts')).runAnalysis)

/** Throws with what to call instead. */
export const runGeneration = partOfRun('runGeneration', 'generation')

/** Throws with what to call instead. */
export const runExecution = partOfRun('runExecution', 'execution')

/** Throws with what to call instead. */
export const runEvaluation = partOfRun('runEvaluation', 'evaluation')

/** Does a coding task and verifies it, as `gantry task run` does. */
export const runTask = onCall(async () => (await import('./library/run-task.ts')).runTask)

/** Opens the queue of coding tasks, as the commands of `gantry task` do: submit, list, show, cancel, apply, retry, work. */
export const openTasks = onCall(async () => (await import('./library/open-tasks.ts')).openTasks)

/** Lets a guarded agent do the open tasks of a plan, each verified before it counts, as `gantry plan run` does. */
export const runPlan = onCall(async () => (await import('./library/run-plan.ts')).runPlan)

/** Decides on one hook event of an agent, with the rules, the settings and the ledger of the guard. */
export const decideHook = onCall(async () => (await import('./library/decide-hook.ts')).decideHook)

/** Opens the guard of a project: install, uninstall, status, verify, explain and simulate, as the commands of `gantry guard`. */
export const openGuard = onCall(async () => (await import('./library/open-guard.ts')).openGuard)

/** Runs the steps of agent.yaml in a fresh sandbox, as `gantry verify` does. */
export const verifyRepository = onCall(
  async () => (await import('./library/verify-repository.ts')).verifyRepository,
)

/** Opens a server on loopback that answers calls to models from a script, a cassette or the provider. */
export const openBoundary = onCall(async () => (await import('./library/open-boundary.ts')).openBoundary)

/** Opens the stored runs for reading, and for reporting them again. */
export const openRuns = onCall(async () => (await import('./library/open-runs.ts')).openRuns)

/** The same function, of a part that is loaded when it is called. */
function onCall<Args extends readonly unknown[], Result>(load: () => Promise<(...args: Args) => Result>) {
  return async (...args: Args): Promise<Awaited<Result>> => await (await load())(...args)
}

function partOfRun(name: string, stage: string) {
  return async (..._: readonly unknown[]): Promise<never> => {
    throw (await import('./library/plugin-eval-names.ts')).stageOfRun(name, stage)
  }
}

export type { HookReply } from './agents/hook-codec.ts'
export type { AgentDefinition, AgentResult, AgentWork, ReportedEvent } from './agents/module/define-agent.ts'
export { defineAgent } from './agents/module/define-agent.ts'
export type { TargetInvocation, ToolUse } from './analysis/contract.ts'
export type { Comparison } from './core/comparison.ts'
export type { ErrorCode, SourcePosition } from './core/error.ts'
export { GantryError } from './core/error.ts'
export type { AgentEvent, GantryEvent } from './core/event.ts'
export type { CaseSummary, Rate, Regression, RunSummary } from './core/summary.ts'
export type { GateResult, InteractionMetrics, JudgeResult, TrialRecord } from './core/trial.ts'
export type { Verdict } from './core/verdict.ts'
export { version } from './core/version.ts'
export type { GateContext, GateFinding, GateNeed, WorkspaceDelta } from './gates/contract.ts'
export type { ConfigSchema, GateDefinition, StandardSchema } from './gates/define-gate.ts'
export { defineGate } from './gates/define-gate.ts'
export type { Label } from './judge/labels.ts'
export type { HookDecisionRequest } from './library/decide-hook.ts'
export type { GuardHooksOptions, InstalledGuard } from './library/guard-hooks.ts'
export type { OpenBoundaryOptions, OpenedBoundary } from './library/open-boundary.ts'
export type { GuardPlaceOptions, ProjectGuard, SimulatedHook } from './library/open-guard.ts'
export type { ReadRun, ReportOptions, Runs, RunsPlace } from './library/open-runs.ts'
export type { NewTaskRequest, ShownTask, Tasks, TasksPlace } from './library/open-tasks.ts'
export type { PlanRunOptions, PlanRunRequest, PlanRunResult } from './library/run-plan.ts'
export type { TaskRunRequest, TaskRunResult } from './library/run-task.ts'
export type { VerifyOptions } from './library/verify-repository.ts'
export type { ExchangeFacts, ModelEndpoint, SessionReport } from './models/boundary/contract.ts'
export type { AnalyzeOptions, AnalyzeOutcome } from './plugin/analyze/analyze-plugin.ts'
export type { Analysis } from './plugin/analyze/contract.ts'
export type { PluginConfig } from './plugin/config/keys/schema.ts'
export type { PluginOverrides } from './plugin/config/overrides.ts'
export type { PluginStep } from './plugin/contract.ts'
export type { PluginEvaluation, PluginEvaluationOptions } from './plugin/evaluate-plugin.ts'
export type { EvaluationEnd } from './plugin/pipeline/run-stages.ts'
export { consoleProgress } from './plugin/report/console-progress.ts'
export type {
  FinishedRun,
  Reporter,
  ReporterContext,
  RunHeader,
  Sink,
  TrialHeader,
} from './report/contract.ts'
export type { ReporterDefinition } from './report/define-reporter.ts'
export { defineReporter } from './report/define-reporter.ts'
export type { GraderCheck } from './scenario/check.ts'
export type { RunEstimate } from './scenario/estimate.ts'
export type { GivenLabel, JudgeCalibration } from './scenario/label-trials.ts'
export type { RunRequestInput } from './scenario/request.ts'
export type {
  ScenarioPlanOptions,
  ScenarioRunOptions,
  ScenarioRunResult,
} from './scenario/run-scenarios.ts'
export type { ScenarioPlace, Validation } from './scenario/validate.ts'
export type { Manifest, RunRow } from './store/contract.ts'
export type { TaskRecord, TaskState } from './store/queue/contract.ts'
export type { TaskEvent } from './task/contract.ts'
export type { VerifierResponse, VerifyEvent } from './verifier/contract.ts'
