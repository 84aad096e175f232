/**
 * Gantry as a library: every face without the command line, with the functions that its commands call. Each function loads its part when it is called, so that a module which
 * only defines a gate, a reporter or an agent starts at once. docs/library.md has an example of each.
 */

import type { HookReply } from './agents/hook-codec.ts'
import type { HookDecisionRequest } from './library/decide-hook.ts'
import type { OpenBoundaryOptions, OpenedBoundary } from './library/open-boundary.ts'
import type { GuardPlaceOptions, ProjectGuard } from './library/open-guard.ts'
import type { Runs, RunsPlace } from './library/open-runs.ts'
import type { Tasks, TasksPlace } from './library/open-tasks.ts'
import type { PlanRunOptions, PlanRunRequest, PlanRunResult } from './library/run-plan.ts'
import type { TaskRunRequest, TaskRunResult } from './library/run-task.ts'
import type { VerifyOptions } from './library/verify-repository.ts'
import type { AnalyzeOptions, AnalyzeOutcome } from './plugin/analyze/analyze-plugin.ts'
import type { Analysis } from './plugin/analyze/contract.ts'
import type { PluginConfig } from './plugin/config/keys/schema.ts'
import type { PluginOverrides } from './plugin/config/overrides.ts'
import type { PluginEvaluation, PluginEvaluationOptions } from './plugin/evaluate-plugin.ts'
import type { GraderCheck } from './scenario/check.ts'
import type { RunEstimate } from './scenario/estimate.ts'
import type { RunRequestInput } from './scenario/request.ts'
import type { ScenarioPlanOptions, ScenarioRunOptions, ScenarioRunResult } from './scenario/run-scenarios.ts'
import type { ScenarioPlace, Validation } from './scenario/validate.ts'
import type { VerifierResponse } from './verifier/contract.ts'

/** Runs scenarios, as `gantry test` does. The request has the flags of that command, the options what only a caller can pass in. */
export async function runScenarios(
  request: RunRequestInput,
  options?: ScenarioRunOptions,
): Promise<ScenarioRunResult> {
  return (await import('./scenario/run-scenarios.ts')).runScenarios(request, options)
}

/** The trials, the cost and the time of a run, before it is made. Runs nothing. */
export async function planScenarios(
  request: RunRequestInput,
  options?: ScenarioPlanOptions,
): Promise<RunEstimate> {
  return (await import('./scenario/run-scenarios.ts')).planScenarios(request, options)
}

/** Every scenario file with what is wrong with it. One broken file does not hide the others. */
export async function validateScenarios(
  paths: readonly string[],
  place: ScenarioPlace,
): Promise<Validation[]> {
  return (await import('./scenario/validate.ts')).validateScenarios(paths, place)
}

/** Tries the gates of scenarios with an agent that does nothing, which must fail, and with the scenario's own solution. */
export async function checkScenarios(
  request: Pick<RunRequestInput, 'cwd' | 'paths'>,
  options?: Omit<ScenarioPlanOptions, 'agents'>,
): Promise<GraderCheck[]> {
  return (await import('./scenario/run-scenarios.ts')).checkScenarios(request, options)
}

/** Reads the files of a plugin and reports what is wrong with them. Starts nothing and calls no model. */
export async function analyzePlugin(options: AnalyzeOptions): Promise<AnalyzeOutcome> {
  return (await import('./library/analyze-plugin.ts')).analyzePlugin(options)
}

/** Evaluates plugins, as `gantry plugin run` does: one end for every plugin. */
export async function evaluatePlugin(options: PluginEvaluationOptions): Promise<readonly PluginEvaluation[]> {
  return (await import('./plugin/evaluate-plugin.ts')).evaluatePlugin(options)
}

/** The settings of a plugin evaluation, as cc-plugin-eval loads them. */
export async function loadConfigWithOverrides(
  file: string,
  overrides?: PluginOverrides,
): Promise<PluginConfig> {
  return (await import('./library/plugin-eval-names.ts')).loadConfigWithOverrides(file, overrides)
}

/** Stage 1 of a plugin evaluation, with the arguments of cc-plugin-eval. */
export async function runAnalysis(config: PluginConfig | Promise<PluginConfig>): Promise<Analysis> {
  return (await import('./library/plugin-eval-names.ts')).runAnalysis(config)
}

/** Throws with what to call instead. */
export async function runGeneration(..._: readonly unknown[]): Promise<never> {
  throw (await import('./library/plugin-eval-names.ts')).stageOfRun('runGeneration', 'generation')
}

/** Throws with what to call instead. */
export async function runExecution(..._: readonly unknown[]): Promise<never> {
  throw (await import('./library/plugin-eval-names.ts')).stageOfRun('runExecution', 'execution')
}

/** Throws with what to call instead. */
export async function runEvaluation(..._: readonly unknown[]): Promise<never> {
  throw (await import('./library/plugin-eval-names.ts')).stageOfRun('runEvaluation', 'evaluation')
}

/** Does a coding task and verifies it, as `gantry task run` does. */
export async function runTask(request: TaskRunRequest): Promise<TaskRunResult> {
  return (await import('./library/run-task.ts')).runTask(request)
}

/** Opens the queue of coding tasks, as the commands of `gantry task` do: submit, list, show, cancel, apply, retry, work. */
export async function openTasks(place?: TasksPlace): Promise<Tasks> {
  return (await import('./library/open-tasks.ts')).openTasks(place)
}

/** Lets a guarded agent do the open tasks of a plan, each verified before it counts, as `gantry plan run` does. */
export async function runPlan(request: PlanRunRequest, options?: PlanRunOptions): Promise<PlanRunResult> {
  return (await import('./library/run-plan.ts')).runPlan(request, options)
}

/** Decides on one hook event of an agent, with the rules, the settings and the ledger of the guard. */
export async function decideHook(call: HookDecisionRequest): Promise<HookReply> {
  return (await import('./library/decide-hook.ts')).decideHook(call)
}

/** Opens the guard of a project: install, uninstall, status, verify, explain and simulate, as the commands of `gantry guard`. */
export async function openGuard(options?: GuardPlaceOptions): Promise<ProjectGuard> {
  return (await import('./library/open-guard.ts')).openGuard(options)
}

/** Runs the steps of agent.yaml in a fresh sandbox, as `gantry verify` does. */
export async function verifyRepository(options?: VerifyOptions): Promise<VerifierResponse> {
  return (await import('./library/verify-repository.ts')).verifyRepository(options)
}

/** Opens a server on loopback that answers calls to models from a script, a cassette or the provider. */
export async function openBoundary(options?: OpenBoundaryOptions): Promise<OpenedBoundary> {
  return (await import('./library/open-boundary.ts')).openBoundary(options)
}

/** Opens the stored runs for reading, and for reporting them again. */
export async function openRuns(place?: RunsPlace): Promise<Runs> {
  return (await import('./library/open-runs.ts')).openRuns(place)
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
