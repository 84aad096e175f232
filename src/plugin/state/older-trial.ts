import { z } from 'zod'
import type { AgentEnding } from '../../core/event.ts'
import { asArray, asObject, isObject, type JsonObject } from '../../core/json-fields.ts'
import { addTokens, type ModelUsage } from '../../core/trial.ts'
import { readTrial } from '../evaluate/stored/read-trial.ts'
import type { Execution, PluginTrial } from '../execute/contract.ts'
import { pathSegment } from '../execute/plan-trials.ts'
import type { PluginScenario } from '../generate/contract.ts'
import { scenariosFileSchema, toScenario } from '../generate/scenarios-schema.ts'

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
