import type { AgentOutcome, FailureReport } from '../agents/contract.ts'
import { classifyFailure } from '../agents/failure.ts'
import type { AgentEvent, ModelCallEvent, Untimed } from '../core/event.ts'
import { addTokens, type TokenUsage } from '../core/trial.ts'
import type { ExchangeFacts, SessionReport } from '../models/boundary/contract.ts'
import { isSideRequest } from '../models/boundary/model-call.ts'
import { isOffline, type ModelLink } from '../models/boundary/model-link.ts'
import type { LinkSession } from '../models/boundary/open-model-link.ts'

export interface FinishOptions {
  readonly model: ModelLink
  readonly calls: CallLog
  readonly emit: (event: Untimed<AgentEvent>) => void
  /** A warning when the agent ended by itself without any call, such as that nothing was recorded. */
  readonly unused?: string | null
}

/**
 * Closes the model link of an agent that has ended, and keeps a complete recording. The boundary supplies what the
 * agent did not report: tokens, cost, and whether the cassette still matches.
 */
export async function finishLink(
  session: LinkSession,
  ran: AgentOutcome,
  { model, calls, emit, unused = null }: FinishOptions,
): Promise<AgentOutcome> {
  const failureOf = () => ran.failure ?? (isStopped(ran) ? null : calls.failure())
  const keep = failureOf() === null && (ran.ending === 'exited' || ran.ending === 'over_turns')
  const report = await session.finish({ keep })
  // Read again: only now have all calls ended.
  const outcome = { ...ran, failure: failureOf() }
  if (outcome.tokens === null) for (const event of usageEvents(report)) emit(event)
  const invalid = report.problem ?? outcome.invalid
  return {
    ...outcome,
    costUsd: paidCost(outcome, report, model, calls),
    tokens: outcome.tokens ?? totalTokens(report),
    ...(invalid !== undefined && { invalid }),
    ...(unused !== null &&
      report.exchanges === 0 &&
      ran.ending === 'exited' && { warnings: [...(ran.warnings ?? []), unused] }),
  }
}

/** The calls between an agent and its model, as the boundary saw them. Each is an event of the log. */
export type CallLog = ReturnType<typeof createCallLog>

/** Answers from a script or a cassette cost nothing unless they are charged like a model's, and their failures are intended. */
export function createCallLog(
  modelLink: ModelLink,
  isCharged: boolean,
  emit: (event: Untimed<ModelCallEvent>) => void,
) {
  const isFree = isOffline(modelLink) && !isCharged
  let last: ExchangeFacts | null = null
  const costs: (number | null)[] = []
  return {
    add: (exchange: ExchangeFacts): void => {
      const { kind, by, tokens, costUsd } = exchange
      const isPaid = reachedProvider(by) || isOffline(modelLink)
      emit(callEvent(exchange, isPaid && !isFree))
      if (isSideRequest(kind)) return
      last = exchange
      if (isPaid && (costUsd !== null || tokens !== null)) costs.push(costUsd)
    },
    /** The failure of the provider's last answer. What the agent did after it does not count against the tool under test. */
    failure: (): FailureReport | null => {
      if (isOffline(modelLink) || last === null || !reachedProvider(last.by)) return null
      const reason = classifyFailure('', last.status)
      const message = `the last call to ${last.model || 'the model'} was answered with status ${last.status}`
      return reason === null ? null : { reason, message }
    },
    /** The wait that the last refusal requested; null when it gave no time. */
    retryAfterMs: (): number | null => last?.retryAfterMs ?? null,
    /** The cost of the calls that reached a provider; null when the cost of none is known. */
    paidUsd: (): number | null => {
      if (isFree) return 0
      const known = costs.filter((cost) => cost !== null)
      return costs.length > 0 && known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0)
    },
  }
}

function reachedProvider(by: string): boolean {
  return by === 'upstream' || by === 'record' || by === 'auto'
}

/** Gantry stopped the agent, so its next call is unknown. */
function isStopped({ ending }: AgentOutcome): boolean {
  return ending !== 'exited' && ending !== 'crashed'
}

function usageEvents({ usage }: SessionReport): readonly Untimed<AgentEvent>[] {
  return usage.map(({ model, tokens, costUsd }) => ({
    event: 'usage',
    model,
    ...tokenFields(tokens),
    ...(costUsd !== null && { cost_usd: costUsd }),
  }))
}

function callEvent(exchange: ExchangeFacts, isPaid: boolean): Untimed<ModelCallEvent> {
  const { index, api, model, kind, status, tokens, costUsd, durationMs, by, fault } = exchange
  return {
    event: 'model_call',
    index,
    api,
    model,
    kind,
    status,
    by,
    ...(fault !== undefined && { fault }),
    duration_secs: durationMs / 1_000,
    ...(tokens !== null && tokenFields(tokens)),
    ...(isPaid && costUsd !== null && { cost_usd: costUsd }),
  }
}

function tokenFields({ input, output, cacheRead, cacheWrite, thinking }: TokenUsage) {
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    ...(thinking !== undefined && { thinking_tokens: thinking }),
  }
}

/** An agent that computes its own cost does not know which answers came from a file. */
function paidCost(
  { costUsd }: AgentOutcome,
  { exchanges }: SessionReport,
  model: ModelLink,
  calls: CallLog,
): number | null {
  if (isOffline(model) || model.replay === 'auto') return calls.paidUsd()
  return costUsd ?? (exchanges === 0 ? null : calls.paidUsd())
}

function totalTokens({ usage }: SessionReport): AgentOutcome['tokens'] {
  const [first, ...rest] = usage
  return first === undefined ? null : rest.reduce((sum, row) => addTokens(sum, row.tokens), first.tokens)
}
