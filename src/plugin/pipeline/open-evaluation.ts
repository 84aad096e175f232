import { basename } from 'node:path'
import { createRedaction } from '../../core/redaction.ts'
import { writeJsonAtomic } from '../../io/files.ts'
import { gitInfo } from '../../io/git.ts'
import { lazyBoundary } from '../../models/boundary/lazy-boundary.ts'
import { createBudget } from '../../models/budget.ts'
import type { LiveRun } from '../../store/contract.ts'
import { createRun } from '../../store/create-run.ts'
import { note } from '../contract.ts'
import { type EvaluationState, newState } from '../state/evaluation-state.ts'
import { evaluationFiles, writeScenarios } from './evaluation-files.ts'
import type { EvaluationContext, EvaluationRequest, EvaluationWork } from './evaluation-work.ts'
import type { FailedScenarios } from './find-evaluation.ts'
import { toStoredRequest } from './stored-request.ts'

/** An evaluation that releases its run and the model link when the scope ends. */
export type OpenEvaluation = EvaluationWork & AsyncDisposable

export async function openEvaluation(
  request: EvaluationRequest,
  context: EvaluationContext,
  fast: FailedScenarios | null = null,
): Promise<OpenEvaluation> {
  const { store, project, env, argv, cwd } = context
  const redaction = createRedaction(project.config.redact, env)
  const git = await gitInfo(request.target.path)
  const run = createRun(store, {
    kind: 'plugin',
    title: basename(request.target.path),
    argv: argv.map(redaction.text),
    cwd,
    ...(git !== null && { commit_sha: git.commit ?? 'unknown', dirty: git.dirty }),
    details: { plugin_path: request.target.path },
    ...(fast !== null && { refers_to: [fast.runId] }),
    onWarning: (message) => note(context.onStep, 'warning', message),
  })
  const files = evaluationFiles(run.dir)
  writeJsonAtomic(files.config, redaction.value(toStoredRequest(request)))
  const { until, replay, cassettes } = request
  const state = newState({
    run_id: run.id,
    plugin_name: basename(request.target.path),
    plugin_path: request.target.path,
    timestamp: store.clock.now().toISOString(),
    fast_from: fast?.runId ?? null,
    ...{ until, replay, cassettes },
  })
  if (fast !== null) writeScenarios(files.scenarios, fast.pluginName, fast.scenarios)
  writeJsonAtomic(files.state, state)
  return work(request, context, run, state, 0)
}

export function work(
  request: EvaluationRequest,
  context: EvaluationContext,
  run: LiveRun,
  begin: EvaluationState,
  spentUsd: number,
): OpenEvaluation {
  const files = evaluationFiles(run.dir)
  const boundary = lazyBoundary()
  const budget = createBudget(request.config.execution.max_budget_usd, spentUsd)
  let state = begin
  return {
    request,
    context,
    run,
    files,
    budget,
    redaction: createRedaction(context.project.config.redact, context.env, request.config.execution.env),
    boundary: boundary.get,
    state: () => state,
    advance: (change) => {
      state = change(state, context.store.clock.now())
      writeJsonAtomic(files.state, state)
      run.change({ details: { spent_usd: budget.state().spentUsd } })
    },
    [Symbol.asyncDispose]: async () => {
      await boundary[Symbol.asyncDispose]()
      run.release()
    },
  }
}
