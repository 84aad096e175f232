import { join } from 'node:path'
import { type ResolvedAgent, resolveAgent } from '../../config/resolve-agent.ts'
import { counted } from '../../core/counted.ts'
import { GantryError } from '../../core/error.ts'
import { makeDirectories } from '../../io/directory.ts'
import { readJsonIfExists, writeJsonAtomic } from '../../io/files.ts'
import { hermeticEnv } from '../../io/hermetic-env.ts'
import { endMarkedProcesses } from '../../io/process-table.ts'
import { prepareSpawning } from '../../io/spawn-client.ts'
import { temporaryDirectory } from '../../io/temporary-directory.ts'
import { begunUsage } from '../../model-link/agent-cost.ts'
import { hasCostLimit, preflightAgents } from '../../model-link/choose-model-link.ts'
import { resolveModel } from '../../models/index.ts'
import { builtInPrices } from '../../models/prices.ts'
import type { TrialHeader } from '../../report/contract.ts'
import { openEventRecorder } from '../../store/event-recorder.ts'
import { putAside, takeUncountedUsd } from '../../trials/put-aside.ts'
import type { Analysis, PluginLoad } from '../analyze/contract.ts'
import { type Arm, note } from '../contract.ts'
import { lostUse } from '../evaluate/metrics/cost-tally.ts'
import type { PluginTrial } from '../execute/contract.ts'
import { executeTrials } from '../execute/execute-trials.ts'
import { checkPluginLoad } from '../execute/load/plugin-load.ts'
import { runVariable } from '../execute/process-settings.ts'
import type { ExecuteContext } from '../execute/request.ts'
import { tryHooks } from '../hook-lab/try-hooks.ts'
import { createSanitizers } from '../sanitize/create-sanitizer.ts'
import { completed, lost } from '../state/evaluation-state.ts'
import { keepExecution, readAnalysis, readCrowd, readExecution, readScenarios } from './evaluation-files.ts'
import type { EvaluationWork } from './evaluation-work.ts'
import { earlierTrialCosts } from './paid-estimate.ts'
import { withListingOf } from './run-analysis.ts'
import { isTrialDone, plannedTrials } from './stored-trials.ts'

/**
 * Stage 3: runs every scenario in the real Claude Code. A finished trial is on disk before the next starts, and never runs
 * again. Returns the number of trials that have run.
 */
export async function runExecution(work: EvaluationWork): Promise<number> {
  const { request, context, files, run, budget, redaction } = work
  const { config } = request
  const scenarios = readScenarios(files)
  prepareSpawning()
  const analysis = readAnalysis(files)
  if (config.scope.hooks && analysis.components.hooks.length > 0) await tryHooksOffline(work, analysis)
  const { agent, modelLink } = await preflightExecution(work)
  const load = trialsHavePlugin(work) ? await checkedLoad(work) : null
  const trials = plannedTrials(scenarios, request)
  run.writePlan({
    trials: trials.filter(({ arm }) => arm !== 'without').map((trial) => header(trial, agent, work)),
  })
  run.change({ agents: { [agent.name]: agent.probe.version ?? 'unknown' } })
  const done = new Set(trials.filter(({ id }) => isTrialDone(files, id)).map(({ id }) => id))
  context.onStep({ kind: 'stage_start', stage: 'execution', total: trials.length - done.size })
  if (done.size > 0)
    note(context.onStep, 'info', `${done.size} of ${counted(trials.length, 'trial')} already ran`)
  const isFree = modelLink !== null && !hasCostLimit(modelLink, agent.meter)
  if (!isFree) await putBegunAside(work, trials)
  await chargeKilledAttempts(work)
  discardUnfinished(work, trials, done)
  const sanitizers = createSanitizers(config.output, { redact: redaction.text })
  using scratch = temporaryDirectory('gantry-plugin-')
  const workDir = config.debug ? join(run.dir, 'work') : scratch.path
  if (config.debug) {
    makeDirectories(workDir)
    note(context.onStep, 'info', `homes and workspaces are in ${workDir}`)
  }
  // The run is locked, so processes left over from an earlier killed process can be ended.
  endMarkedProcesses(`${runVariable}=${run.id}`)
  const report = await executeTrials({
    ...executeContext(work, { agent, modelLink }, workDir),
    ...(load !== null && { load }),
    scenarios,
    trials,
    done,
    cassettes: request.cassettes,
    budget,
    earlierUsd: await trialCosts(work, trials),
    allowScaffold: request.allowScaffold,
    sanitize: sanitizers.transcripts,
    openEventLog: (trialId) => {
      run.discardTrial(trialId)
      const dir = run.openTrial(trialId)
      return openEventRecorder({
        events: join(dir, 'events.jsonl'),
        transcript: join(dir, 'output.log'),
        redaction: { ...redaction, value: (value) => sanitizers.logs(redaction.value(value)) },
        clock: context.store.clock,
      })
    },
    keep: (execution, transcript) => {
      keepExecution(files, execution, transcript)
      work.advance((state) => state)
    },
    putAside: (attempt, why) => putAside(run, attempt, why, context.store.clock.now()),
    onStep: context.onStep,
  })
  // Read before the state counts them, so that no later process counts them again.
  await takeUncountedUsd(run, () => true, context.store.clock.now())
  if (report.lost_cost_usd > 0) work.advance((state) => lost(state, report.lost_cost_usd, report.lost_usage))
  writeJsonAtomic(files.executionMetadata, {
    ...report,
    agent: agent.name,
    agent_version: agent.probe.version,
  })
  if (report.load !== null)
    writeJsonAtomic(files.analysis, { ...readAnalysis(files), plugin_load_result: report.load })
  if (report.stopped === 'interrupted') throw new GantryError('INTERRUPTED', 'the execution was stopped')
  if (report.stopped === 'budget')
    note(
      context.onStep,
      'warning',
      `${counted(report.not_run.length, 'trial was', 'trials were')} not run: ${report.not_run_why.join('; ')}. Continue with: gantry plugin resume ${run.id} --max-cost-usd USD`,
    )
  run.change({ details: { not_run: report.not_run_why } })
  work.advance((state, now) => completed(state, 'execution', now))
  return report.executed + done.size
}

/** The agent of the trials. Throws before anything is spent when it is missing or has no access to a model. */
export const preflightExecution = oncePerRun(openAgent)

/**
 * What Claude Code loads of the plugin, and the model it runs. Checked without a model call, before the first stage that costs
 * money. The listing of the analysis becomes that of this model.
 */
export const checkedLoad = oncePerRun(checkLoad)

/** Checked before the first stage that costs money, and used by the execution: starting the agent takes a second. */
function oncePerRun<T>(check: (work: EvaluationWork) => Promise<T>): (work: EvaluationWork) => Promise<T> {
  const checks = new WeakMap<EvaluationWork, Promise<T>>()
  return (work) => {
    const checking = checks.get(work) ?? check(work)
    checks.set(work, checking)
    return checking
  }
}

async function checkLoad(work: EvaluationWork): Promise<PluginLoad> {
  const { files, context } = work
  const ready = await preflightExecution(work)
  prepareSpawning()
  using scratch = temporaryDirectory('gantry-plugin-')
  const load = await checkPluginLoad(executeContext(work, ready, scratch.path))
  const analysis = readAnalysis(files)
  const crowd = readCrowd(files).map(({ plugin_path: path }) => path)
  const listed = await withListingOf(load.model, analysis, crowd, context.cwd)
  if (listed !== analysis) writeJsonAtomic(files.analysis, listed)
  return load
}

export function trialsHavePlugin({ request: { target } }: Pick<EvaluationWork, 'request'>): boolean {
  return target.arms.some((arm) => arm !== 'without')
}

function executeContext(
  { request, context, files, run, redaction, boundary }: EvaluationWork,
  { agent, modelLink }: Awaited<ReturnType<typeof openAgent>>,
  workDir: string,
): ExecuteContext {
  return {
    runId: run.id,
    config: request.config,
    plugin: readAnalysis(files),
    crowd: readCrowd(files).map(({ plugin_path: path }) => path),
    agent,
    modelLink: modelLink === null ? null : { model: modelLink, boundary, faults: null },
    prices: { ...builtInPrices, ...context.project.config.models },
    redaction,
    env: context.env,
    workDir,
    signal: context.signal,
  }
}

async function openAgent({ request, context }: EvaluationWork) {
  const { config, replay } = request
  const { project, cwd, signal } = context
  // What the evaluation gives its sessions may contain their key.
  const env = { ...context.env }
  using scratch = temporaryDirectory('gantry-probe-')
  const probeEnv = {
    ...hermeticEnv({ host: env, home: scratch.path, tmp: scratch.path, inherit: [], extra: {} }),
    ...config.execution.env,
  }
  const agent = await resolveAgent(config.execution.agent, { project, cwd, env, probeEnv, signal })
  const links = preflightAgents([agent], { replay, faults: [] })
  if (replay === 'off')
    for (const name of new Set([config.generation.model, config.evaluation.model]))
      if (name !== 'default') await resolveModel(name, { env, base: project.root })
  return { agent, modelLink: links.get(agent.name) ?? null }
}

/** What sessions that were killed in the middle had reported of their cost stays in the ledger. */
async function putBegunAside(
  { run, files, context, advance, request }: EvaluationWork,
  trials: readonly PluginTrial[],
): Promise<void> {
  const facts = {
    model: request.config.execution.model,
    prices: { ...builtInPrices, ...context.project.config.models },
  }
  for (const { id } of trials) {
    if (readExecution(files, id) !== null) continue
    const used = await begunUsage(join(run.trialDir(id), 'events.jsonl'), facts)
    const costUsd = used.reduce((sum, row) => sum + (row.costUsd ?? 0), 0)
    if (costUsd === 0) continue
    putAside(run, { id, costUsd }, 'interrupted', context.store.clock.now())
    advance((state) => lost(state, 0, lostUse({ cost_usd: costUsd, model_usage: used })))
  }
}

/** What a trial of each arm cost so far in this run, else in an earlier one. */
async function trialCosts(
  { files, context, request }: EvaluationWork,
  trials: readonly PluginTrial[],
): Promise<(arm: Arm) => number | null> {
  const { plugin_name } = readAnalysis(files)
  const earlierUsd = await earlierTrialCosts(context.store, plugin_name, request.config.execution)
  const costs = trials.flatMap(({ id, arm }) => {
    const usd = readExecution(files, id)?.cost_usd ?? 0
    return usd > 0 ? [{ arm, usd }] : []
  })
  const byArm = Map.groupBy(costs, ({ arm }) => arm)
  return (arm) => {
    const own = byArm.get(arm) ?? []
    return own.length === 0 ? earlierUsd(arm) : own.reduce((sum, { usd }) => sum + usd, 0) / own.length
  }
}

/** Failed attempts of a process that was killed before the end of the stage. */
async function chargeKilledAttempts({ run, files, context, budget, advance }: EvaluationWork): Promise<void> {
  const isRecorded = (id: string): boolean => readExecution(files, id) !== null
  const usd = await takeUncountedUsd(run, isRecorded, context.store.clock.now())
  if (usd === 0) return
  advance((state) => lost(state, usd))
  const grant = budget.reserve(0)
  if (grant.kind === 'granted') grant.settle(usd)
}

/** Removes trials that run again. Their cost stays in the totals. */
function discardUnfinished(work: EvaluationWork, trials: readonly PluginTrial[], done: ReadonlySet<string>) {
  for (const { id } of trials) {
    if (done.has(id)) continue
    const execution = readExecution(work.files, id)
    const paidUsd = execution?.cost_usd ?? 0
    if (execution !== null && paidUsd > 0) work.advance((state) => lost(state, paidUsd, lostUse(execution)))
    work.run.discardTrial(id)
  }
}

function header(
  { id, scenario_id, arm, rep }: PluginTrial,
  agent: ResolvedAgent,
  { request: { config, target } }: EvaluationWork,
): TrialHeader {
  const label = target.arms.length > 1 || arm === 'without' ? `${agent.name}, ${arm}` : agent.name
  return { id, case: scenario_id, agent: label, model: config.execution.model, attempt: rep }
}

/** Tries the hooks with simulated events before any session, once per run, and reports the findings. */
async function tryHooksOffline({ files, context, redaction, request }: EvaluationWork, analysis: Analysis) {
  if (readJsonIfExists(files.hookLab) !== undefined) return
  const report = await tryHooks(analysis, {
    env: context.env,
    signal: context.signal,
    ...(request.config.execution.cwd !== undefined && { workspace: request.config.execution.cwd }),
  })
  writeJsonAtomic(files.hookLab, redaction.value(report))
  for (const { severity, code, message } of report.findings)
    if (severity !== 'info') note(context.onStep, 'warning', `${code}: ${message}`)
}
