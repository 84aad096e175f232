import type { MessageEvent, ToolCallEvent, ToolResultEvent, UsageEvent } from '../../core/event.ts'
import { defined, isObject } from '../../core/json-fields.ts'
import type { TokenUsage } from '../../core/trial.ts'
import type { AtifMetrics, AtifResult, AtifStep, AtifToolCall, AtifTrajectory } from './trajectory.ts'

/** The steps of one agent, the main one or a subagent, from its events in their order. */
export type StepList = ReturnType<typeof createStepList>

interface Draft {
  readonly source: AtifStep['source']
  readonly timestamp: string | undefined
  message: string | null
  reasoning: string[]
  model: string | undefined
  readonly calls: AtifToolCall[]
  readonly results: AtifResult[]
  readonly usages: UsageEvent[]
  readonly extra?: Readonly<Record<string, unknown>>
}

interface OpenCall {
  readonly draft: Draft
  readonly id: string
  answered: boolean
}

export function createStepList() {
  const drafts: Draft[] = []
  /** By the id in the event; calls without an id are distinguished by their order. */
  const calls = new Map<string | undefined, OpenCall[]>()
  let callCount = 0
  /** The current answer of the model; null when the next message starts a new one. */
  let current: Draft | null = null
  let stepsSinceUsage = 0

  const open = (source: Draft['source'], ts: number, extra?: Draft['extra']): Draft => {
    const draft: Draft = {
      source,
      timestamp: isoTime(ts),
      message: null,
      reasoning: [],
      model: undefined,
      calls: [],
      results: [],
      usages: [],
      ...(extra === undefined ? {} : { extra }),
    }
    drafts.push(draft)
    return draft
  }

  /** The log does not mark the end of an answer. It has ended when its tools returned, or when a second text would begin. */
  const answer = (ts: number, isFull: (draft: Draft) => boolean): Draft => {
    if (current === null || current.results.length > 0 || isFull(current)) {
      current = open('agent', ts)
      stepsSinceUsage += 1
    }
    return current
  }

  const openCallOf = (event: ToolResultEvent): OpenCall | undefined => {
    const fits = calls.get(event.id) ?? []
    return fits.find((call) => !call.answered) ?? (event.id === undefined ? undefined : fits.at(-1))
  }

  return {
    message({ ts, role, text, model }: MessageEvent): void {
      if (role === 'user' || role === 'system') {
        open(role, ts).message = text
        if (role === 'user') current = null
        return
      }
      const isThought = role === 'thinking'
      const draft = answer(ts, (step) =>
        isThought
          ? step.calls.length > 0 || step.usages.length > 0
          : step.message !== null || step.calls.length > 0,
      )
      draft.model ??= model
      if (isThought) draft.reasoning.push(text)
      else draft.message = text
    },
    call(event: ToolCallEvent): void {
      const draft = answer(event.ts, () => false)
      callCount += 1
      const id = freeId(event.id ?? `call_${callCount}`, draft)
      draft.calls.push(toolCall(event, id))
      calls.set(event.id, [...(calls.get(event.id) ?? []), { draft, id, answered: false }])
    },
    result(event: ToolResultEvent): void {
      const call = openCallOf(event)
      if (call !== undefined) call.answered = true
      const draft = call?.draft ?? current ?? open('system', event.ts)
      draft.results.push(toolResult(event, call?.id))
    },
    usage(event: UsageEvent): void {
      // Some agents report the usage of each answer, some correct it later, some report only the total.
      const isOwn = stepsSinceUsage === 1 || (stepsSinceUsage === 0 && event.cost_usd === undefined)
      if (isOwn) current?.usages.push(event)
      stepsSinceUsage = 0
    },
    /** A message from neither user nor agent. */
    note(ts: number, message: string, extra: Readonly<Record<string, unknown>>): void {
      open('system', ts, extra).message = message
    },
    hasCall: (callId: string): boolean => calls.has(callId),
    /** Links the result of a call to a trajectory; false when there is no such call. */
    refer(callId: string, trajectoryId: string): boolean {
      const call = calls.get(callId)?.at(-1)
      if (call === undefined) return false
      const index = call.draft.results.findIndex((result) => result.source_call_id === call.id)
      const result = call.draft.results[index] ?? { source_call_id: call.id }
      const referring = { ...result, subagent_trajectory_ref: [{ trajectory_id: trajectoryId }] }
      call.draft.results.splice(index === -1 ? call.draft.results.length : index, 1, referring)
      return true
    },
    steps: (): AtifStep[] => drafts.map(toStep),
  }
}

function toStep(draft: Draft, index: number): AtifStep {
  const { source, timestamp, message, reasoning, model, calls, results, usages, extra } = draft
  return {
    step_id: index + 1,
    ...defined({ timestamp }),
    source,
    message: message ?? '',
    ...defined({ model_name: model }),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join('\n\n') }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(results.length > 0 && { observation: { results } }),
    ...(usages.length > 0 && { metrics: stepMetrics(usages) }),
    ...defined({ extra }),
  }
}

function toolCall({ tool, input, command }: ToolCallEvent, id: string): AtifToolCall {
  const given = isObject(input) ? input : null
  const fallback = input === undefined ? (command === undefined ? {} : { command }) : { input }
  // Some agents wrap commands in a shell and report the command itself separately.
  const isHidden = command !== undefined && given !== null && given.command !== command
  return {
    tool_call_id: id,
    function_name: tool,
    arguments: given ?? fallback,
    ...(isHidden ? { extra: { command } } : {}),
  }
}

function toolResult(event: ToolResultEvent, callId: string | undefined): AtifResult {
  const { output, exit_code, is_error, duration_secs } = event
  const facts = defined({ exit_code, is_error, duration_secs })
  const extra = Object.keys(facts).length === 0 ? undefined : facts
  return defined({ source_call_id: callId, content: output, extra })
}

/** Within a step an id belongs to one call. */
function freeId(wanted: string, { calls }: Draft): string {
  const taken = new Set(calls.map((call) => call.tool_call_id))
  let id = wanted
  for (let suffix = 2; taken.has(id); suffix += 1) id = `${wanted}#${suffix}`
  return id
}

function isoTime(ts: number): string | undefined {
  const time = new Date(ts * 1_000)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

type Usage = Omit<UsageEvent, 'ts' | 'event' | 'model'>

/** Tokens and cost of one step. Prompt tokens include those read from the cache. */
function stepMetrics(usages: readonly Usage[]): AtifMetrics {
  const sum = (read: (usage: Usage) => number | undefined): number =>
    Math.round(usages.reduce((total, usage) => total + (read(usage) ?? 0), 0))
  const cached = sum((usage) => usage.cache_read_tokens)
  const written = sum((usage) => usage.cache_write_tokens)
  const thought = sum((usage) => usage.thinking_tokens)
  const costs = usages.flatMap(({ cost_usd }) => (cost_usd === undefined ? [] : [cost_usd]))
  const details = {
    ...(written === 0 ? {} : { cache_write_tokens: written }),
    ...(thought === 0 ? {} : { reasoning_tokens: thought }),
  }
  return {
    prompt_tokens: sum((usage) => usage.input_tokens) + cached + written,
    completion_tokens: sum((usage) => usage.output_tokens),
    cached_tokens: cached,
    ...(costs.length === 0 ? {} : { cost_usd: costs.reduce((total, cost) => total + cost, 0) }),
    ...(Object.keys(details).length === 0 ? {} : { extra: details }),
  }
}

/** Metrics of the whole trajectory. Unknown values are omitted: unknown is not zero. */
export function finalMetrics(
  tokens: TokenUsage | null,
  costUsd: number | null,
  steps: number,
): NonNullable<AtifTrajectory['final_metrics']> {
  const { prompt_tokens, completion_tokens, cached_tokens, extra } = usageOf(tokens)
  return defined({
    total_prompt_tokens: prompt_tokens,
    total_completion_tokens: completion_tokens,
    total_cached_tokens: cached_tokens,
    total_cost_usd: costUsd ?? undefined,
    total_steps: steps,
    extra,
  })
}

function usageOf(tokens: TokenUsage | null): AtifMetrics {
  if (tokens === null) return {}
  const { input, output, cacheRead, cacheWrite, thinking } = tokens
  const cached = { cache_read_tokens: cacheRead, cache_write_tokens: cacheWrite }
  const used = { input_tokens: input, output_tokens: output, ...cached }
  return stepMetrics([{ ...used, ...defined({ thinking_tokens: thinking }) }])
}
