import { join } from 'node:path'
import { z } from 'zod'
import { counted } from '../../core/counted.ts'
import type { AgentEnding } from '../../core/event.ts'
import { asArray, asObject, isObject, type JsonObject } from '../../core/json-fields.ts'
import { addTokens, type ModelUsage } from '../../core/trial.ts'
import { writeJsonAtomic } from '../../io/files.ts'
import { isFile } from '../../io/path-kind.ts'
import { note } from '../contract.ts'
import { readTrial } from '../evaluate/stored/read-trial.ts'
import type { Execution, PluginTrial } from '../execute/contract.ts'
import { pathSegment } from '../execute/plan-trials.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { scenariosFileSchema, toScenario } from '../generate/scenarios-schema.ts'
import { type EvaluationState, type MigratedState, rewoundTo } from '../state/evaluation-state.ts'
import {
  type EvaluationFiles,
  isAnalysis,
  isScenariosFile,
  keepExecution,
  readScenarios,
  readWhole,
  writeScenarios,
} from './evaluation-files.ts'
import type { EvaluationContext, EvaluationRequest } from './evaluation-work.ts'
import { analysed } from './run-analysis.ts'
import { isTrialDone, plannedTrials } from './stored-trials.ts'

/**
 * Moves parts that an older version kept inside its state into the files of today, so that nothing that was paid for runs again. Existing
 * files are kept, and the older state is kept under another name. Returns the new state: stages whose data cannot be read run again.
 */
export async function unpackOlder(
  files: EvaluationFiles,
  { state, embedded }: MigratedState,
  raw: unknown,
  request: Pick<EvaluationRequest, 'config' | 'target'>,
  { cwd, onStep, store }: Pick<EvaluationContext, 'cwd' | 'onStep' | 'store'>,
): Promise<EvaluationState> {
  const older = join(files.dir, 'state.older.json')
  if (!isFile(older)) writeJsonAtomic(older, raw)
  const now = store.clock.now()
  if (state.stage === 'pending') return state
  await keepAnalysis(files, embedded.analysis, state.plugin_path, cwd)
  const scenarios = olderScenarios(embedded.scenarios)
  if (scenarios !== null && !isScenariosFile(readWhole(files.scenarios)))
    writeScenarios(files.scenarios, state.plugin_name, scenarios)
  if (state.stage === 'analysis') return state
  if (!isScenariosFile(readWhole(files.scenarios))) return rewoundTo(state, 'generation', state.until, now)
  const kept = readScenarios(files)
  const trials = plannedTrials(kept, request).filter(({ id }) => !isTrialDone(files, id))
  const results = olderExecutions(embedded.executions ?? [])
  const facts = {
    pluginName: state.plugin_name,
    strategy: request.config.execution.session_strategy ?? 'isolated',
  }
  for (const trial of trials) {
    const result = trial.rep === 1 ? results.get(trial.scenario_id) : undefined
    const scenario = kept.find(({ id }) => id === trial.scenario_id)
    const made = result && scenario && (await olderTrial(result, trial, scenario, facts))
    if (made) keepExecution(files, made.execution, made.transcript)
  }
  const open = trials.filter(({ id }) => !isTrialDone(files, id)).length
  if (trials.length > 0)
    note(
      onStep,
      'info',
      `${counted(trials.length - open, 'trial')} of the older version used as they are, ${open} to run`,
    )
  return state
}

/** Analysis costs nothing, so one of another shape is made again instead of every stage after it. */
async function keepAnalysis(files: EvaluationFiles, embedded: unknown, path: string, cwd: string) {
  if (isAnalysis(readWhole(files.analysis))) return
  const analysis = isAnalysis(embedded) ? embedded : await analysed({ path, cwd, crowd: [] })
  writeJsonAtomic(files.analysis, analysis)
}

// What cc-plugin-eval keeps inside its state.json, in the form of today.

/** The scenarios of an older state; null when they cannot be read. Ids that cannot be file names are changed. */
export function olderScenarios(value: unknown): readonly PluginScenario[] | null {
  const list = z.array(z.looseObject({ id: z.string() })).safeParse(value)
  if (!list.success) return null
  const read = scenariosFileSchema.safeParse(
    list.data.map((scenario) => ({ origin: 'model', ...scenario, id: pathSegment(scenario.id) })),
  )
  return read.success ? (Array.isArray(read.data) ? read.data : read.data.scenarios).map(toScenario) : null
}

/** The results of an older state by scenario. The last result of a scenario counts. */
export function olderExecutions(values: readonly unknown[]): ReadonlyMap<string, JsonObject> {
  return new Map(
    values.flatMap((value) => {
      const result = asObject(value)
      return typeof result?.scenario_id === 'string' ? [[pathSegment(result.scenario_id), result]] : []
    }),
  )
}

/** One of these results as the trial that it would be today; null when it cannot be read. */
export async function olderTrial(
  older: JsonObject,
  trial: PluginTrial,
  scenario: PluginScenario,
  { pluginName, strategy }: { readonly pluginName: string; readonly strategy: Execution['session_strategy'] },
) {
  const { events, metadata } = asObject(older.transcript) ?? {}
  const said = asObject(metadata) ?? {}
  const errors = asArray(older.errors).map((error) => ({
    ...asObject(error),
    timestamp: new Date(Number(asObject(error)?.timestamp) || 0).toISOString(),
  }))
  const failed = asArray(older.errors)
    .map(asObject)
    .find((error) => error?.error_type === 'api_error')
  const ended = String(older.termination_type ?? (errors.length > 0 ? 'error' : 'clean'))
  const usage = usageOf(older.model_usage)
  const seen = messagesOf(events)
  const traces = await readTrial({
    trial,
    scenario,
    execution: () => ({
      trial,
      scenario_id: trial.scenario_id,
      detected_tools: captures(older.detected_tools, (index) => ({ tool_use_id: `unknown-${index + 1}` })),
      subagent_captures: captures(older.subagent_captures, () => ({ start_timestamp: 0 })),
      expansions: typedCommand(seen.user.at(0) ?? '', Date.parse(String(said.timestamp)) || 0),
      hook_responses: captures(older.hook_responses, () => ({ stdout: '', stderr: '', outcome: 'unknown' })),
      session_timing: asObject(older.session_timing) ?? { starts: [] },
      errors,
      permission_denials: asArray(older.permission_denials).map((denial) =>
        String(asObject(denial)?.tool_name),
      ),
      termination_type: ended,
      ending: endings[ended] ?? 'crashed',
      final_text: seen.assistant.at(-1) ?? null,
      num_turns: older.num_turns ?? 0,
      api_duration_ms: older.api_duration_ms ?? 0,
      duration_ms: older.api_duration_ms ?? 0,
      cost_usd: older.cost_usd ?? null,
      tokens: usage.length === 0 ? null : usage.map(({ tokens }) => tokens).reduce(addTokens),
      model_usage: usage,
      workspace_changes: [],
      session_strategy: strategy,
      ...(failed != null && { failure: { reason: 'unavailable', message: String(failed.message) } }),
      infra_retries: 0,
      warnings: [],
    }),
    transcript: () => ({
      metadata: { ...said, version: 'v3.0', plugin_name: pluginName, scenario_id: trial.scenario_id },
      events: asArray(events).map(withTextResult),
      errors,
    }),
  })
  if (traces.kind === 'damaged' || traces.transcript === null) return null
  return { execution: traces.execution, transcript: traces.transcript }
}

const endings: Readonly<Record<string, AgentEnding>> = {
  clean: 'exited',
  timeout: 'timed_out',
  interrupted: 'timed_out',
}

/** Its captures have the same keys in camelCase, and `null` for what is absent. */
function captures(list: unknown, missing: (index: number) => object): readonly object[] {
  return asArray(list).map((item, index) => ({
    timestamp: 0,
    ...missing(index),
    ...Object.fromEntries(
      Object.entries(asObject(item) ?? {}).flatMap(([key, value]) =>
        value === null ? [] : [[key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]],
      ),
    ),
  }))
}

function messagesOf(events: unknown): Readonly<Record<'user' | 'assistant', readonly string[]>> {
  const of = (type: string): readonly string[] =>
    asArray(events).flatMap((event) => {
      const { type: own, edit } = asObject(event) ?? {}
      const message = isObject(edit) ? asObject(edit.message) : null
      return own === type && typeof message?.content === 'string' ? [message.content] : []
    })
  return { user: of('user'), assistant: of('assistant') }
}

function withTextResult(event: unknown): unknown {
  const { type, result } = asObject(event) ?? {}
  if (type !== 'tool_result' || typeof result === 'string') return event
  return { ...asObject(event), result: JSON.stringify(result) ?? '' }
}

/** The older version recorded no expansions. It took a command that was typed for one that fired, and so does this. */
function typedCommand(prompt: string, timestamp: number): Execution['expansions'] {
  const [, name, args = ''] = /^\/(\S+)\s*(.*)$/s.exec(prompt) ?? []
  return name === undefined ? [] : [{ command_name: name, command_args: args, timestamp }]
}

function usageOf(models: unknown): readonly ModelUsage[] {
  return Object.entries(asObject(models) ?? {}).map(([model, value]) => {
    const used = asObject(value) ?? {}
    return {
      model,
      tokens: {
        input: Number(used.inputTokens ?? 0),
        output: Number(used.outputTokens ?? 0),
        cacheRead: Number(used.cacheReadInputTokens ?? 0),
        cacheWrite: Number(used.cacheCreationInputTokens ?? 0),
      },
      costUsd: typeof used.costUSD === 'number' ? used.costUSD : null,
    }
  })
}
