import { join } from 'node:path'
import { type ResolvedAgent, resolveAgent } from '../../config/resolve-agent.ts'
import { counted } from '../../core/counted.ts'
import { GantryError } from '../../core/error.ts'
import { monotonicMs } from '../../io/clock.ts'
import { makeDirectories } from '../../io/directory.ts'
import { readJsonIfExists, writeJsonAtomic } from '../../io/files.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { endMarkedProcesses } from '../../io/process-table.ts'
import { prepareSpawning } from '../../io/spawn-client.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import { chooseModelLink, requireModelAccess } from '../../model-link/choose-model-link.ts'
import { builtInPrices } from '../../models/prices.ts'
import { openEventRecorder } from '../../store/event-recorder.ts'
import type { Analysis } from '../analyze/contract.ts'
import type { PluginTrial } from '../execute/contract.ts'
import { executeTrials } from '../execute/execute-trials.ts'
import { runVariable } from '../execute/process-environment.ts'
import type { ExecutionReport } from '../execute/request.ts'
import { tryHooks } from '../hook-lab/try-hooks.ts'
import { createSanitizers } from '../sanitize/create-sanitizer.ts'
import { completed, lost } from '../state/evaluation-state.ts'
import { keepExecution, readAnalysis, readCrowd, readExecution, readScenarios } from './evaluation-files.ts'
import type { EvaluationWork } from './evaluation-work.ts'
import { isTrialDone, plannedTrials } from './stored-trials.ts'

/**
 * Stage 3: runs every scenario in the real Claude Code. A finished trial is on disk before the next starts, and never runs
 * again.
 */
export async function runExecution(work: EvaluationWork): Promise<ExecutionReport> {
  const { request, context, files, run, budget, redaction } = work
  const { config } = request
  const analysis = readAnalysis(files)
  const scenarios = readScenarios(files)
  const startedMs = monotonicMs()
  prepareSpawning()
  if (config.scope.hooks && analysis.components.hooks.length > 0) await tryHooksOffline(work, analysis)
  const agent = await openAgent(work)
  const modelLink = chooseModelLink(agent, { replay: request.replay, faults: [] })
  requireModelAccess(agent, modelLink)
  if (modelLink === null) refuseWithoutKey(agent, config.execution.env)
  const trials = plannedTrials(scenarios, request)
  run.writePlan({
    trials: trials.filter(({ arm }) => arm !== 'without').map((trial) => header(trial, agent, work)),
  })
  run.change({ agents: { [agent.name]: agent.probe.version ?? 'unknown' } })
  const done = new Set(trials.filter(({ id }) => isTrialDone(files, id)).map(({ id }) => id))
  context.onStep({ kind: 'stage_start', stage: 'execution', total: trials.length - done.size })
  if (done.size > 0)
    context.onStep({
      kind: 'note',
      level: 'info',
      message: `${done.size} of ${trials.length} trials were run before`,
    })
  putAside(work, trials, done)
  const sanitizers = createSanitizers(config.output, { redact: redaction.text })
  using scratch = temporaryDirectory('gantry-plugin-')
  const workDir = config.debug ? join(run.dir, 'work') : scratch.path
  if (config.debug) {
    makeDirectories(workDir)
    context.onStep({ kind: 'note', level: 'info', message: `homes and workspaces are kept in ${workDir}` })
  }
  // The run is locked, so processes left over from an earlier killed process can be ended.
  endMarkedProcesses(`${runVariable}=${run.id}`)
  const report = await executeTrials({
    runId: run.id,
    config,
    plugin: analysis,
    crowd: readCrowd(files).map(({ plugin_path: path }) => path),
    agent,
    modelLink: modelLink === null ? null : { model: modelLink, boundary: work.boundary, faults: null },
    prices: { ...builtInPrices, ...context.project.config.models },
    redaction,
    env: context.env,
    workDir,
    signal: context.signal,
    scenarios,
    trials,
    done,
    cassettes: request.cassettes,
    budget,
    allowScaffold: request.allowScaffold,
    sanitize: sanitizers.transcripts,
    openEventLog: (trialId) => {
      const dir = freshTrial(work, trialId)
      return openEventRecorder({
        events: join(dir, 'events.jsonl'),
        transcript: join(dir, 'output.log'),
        redaction: { ...redaction, value: (value) => sanitizers.logs(redaction.value(value)) },
        clock: context.store.clock,
      })
    },
    keep: (execution, transcript) => keepExecution(files, execution, transcript),
    onStep: context.onStep,
  })
  if (report.lost_cost_usd > 0) work.advance((state) => lost(state, report.lost_cost_usd))
  writeJsonAtomic(files.executionMetadata, {
    ...report,
    agent: agent.name,
    agent_version: agent.probe.version,
  })
  if (report.load !== null) writeJsonAtomic(files.analysis, { ...analysis, plugin_load_result: report.load })
  context.onStep({
    kind: 'stage_complete',
    stage: 'execution',
    duration_ms: monotonicMs() - startedMs,
    count: report.executed + done.size,
  })
  if (report.stopped === 'interrupted') throw new GantryError('INTERRUPTED', 'the execution was stopped')
  if (report.stopped === 'budget')
    context.onStep({
      kind: 'note',
      level: 'warning',
      message: `the budget of $${config.execution.max_budget_usd} is used up: ${counted(report.not_run.length, 'trial was', 'trials were')} not run. Continue with: gantry plugin resume ${run.id} --max-cost-usd USD`,
    })
  work.advance((state, now) => completed(state, 'execution', now))
  return report
}

async function openAgent({ request, context }: EvaluationWork): Promise<ResolvedAgent> {
  const { project, cwd, env, signal } = context
  using scratch = temporaryDirectory('gantry-probe-')
  const probeEnv = hermeticEnv({ host: env, home: scratch.path, tmp: scratch.path, inherit: [], extra: {} })
  return resolveAgent(request.config.execution.agent, { project, cwd, env: { ...env }, probeEnv, signal })
}

/** A separate home has no login of the user, so without access to a model every trial would fail. */
function refuseWithoutKey(
  { home, credentials, env, inheritEnv, name }: ResolvedAgent,
  own: Readonly<Record<string, string>>,
): void {
  const variables = [...Object.keys(credentials), ...Object.keys(env), ...Object.keys(own), ...inheritEnv]
  const hasAccess = variables.some((variable) => /^(?:ANTHROPIC_|CLAUDE_CODE_(?:USE_|OAUTH))/.test(variable))
  if (home === 'host' || hasAccess) return
  throw new GantryError('USAGE', `agent '${name}' has no access to a model`, {
    hint: 'Set ANTHROPIC_API_KEY, give the agent `home: host` in gantry.yaml to use your login, or a model_script, or replay a recording with --replay strict.',
  })
}

/** Removes trials that run again. Their cost stays in the totals. */
function putAside(work: EvaluationWork, trials: readonly PluginTrial[], done: ReadonlySet<string>): void {
  for (const { id } of trials) {
    const paidUsd = done.has(id) ? 0 : (readExecution(work.files, id)?.cost_usd ?? 0)
    if (paidUsd > 0) work.advance((state) => lost(state, paidUsd))
    if (!done.has(id)) work.run.discardTrial(id)
  }
}

function freshTrial({ run }: EvaluationWork, trialId: string): string {
  run.discardTrial(trialId)
  return run.openTrial(trialId)
}

function header(
  { id, scenario_id, arm, rep }: PluginTrial,
  agent: ResolvedAgent,
  { request }: EvaluationWork,
): {
  readonly id: string
  readonly case: string
  readonly agent: string
  readonly model: string
  readonly attempt: number
} {
  const { config, target } = request
  return {
    id,
    case: scenario_id,
    agent: target.arms.length > 1 ? `${agent.name}, ${arm}` : agent.name,
    model: config.execution.model,
    attempt: rep,
  }
}

/** Tries the hooks with simulated events before any session, once per run, and reports the findings. */
async function tryHooksOffline(
  { files, context, redaction, request }: EvaluationWork,
  analysis: Analysis,
): Promise<void> {
  if (readJsonIfExists(files.hookLab) !== undefined) return
  const report = await tryHooks(analysis, {
    env: context.env,
    signal: context.signal,
    ...(request.config.execution.cwd !== undefined && { workspace: request.config.execution.cwd }),
  })
  writeJsonAtomic(files.hookLab, redaction.value(report))
  for (const { severity, code, message } of report.findings)
    if (severity !== 'info')
      context.onStep({ kind: 'note', level: 'warning', message: `${code}: ${message}` })
}
