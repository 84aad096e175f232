import type { TokenUsage } from '../core/trial.ts'
import type { Budget } from './budget.ts'
import type { ModelRequest } from './contract.ts'
import { estimateUsd } from './estimate-usd.ts'
import { modelError, uninterrupted } from './model-error.ts'
import { costOf, type TokenPrice } from './price-table.ts'
import type { Completion, CompletionRequest, ModelTurn, ResolvedModel } from './provider.ts'
import { completeWithRetries, type RetryTools } from './retry.ts'

export interface ModelParts extends Omit<RetryTools, 'signal'> {
  readonly name: string
  readonly opened: ResolvedModel
  /** null when the price is unknown. */
  readonly price: TokenPrice | null
  readonly budget: Budget
  /** For one call; null means as long as its longest answer may take. */
  readonly timeoutMs: number | null
}

/** A prompt, or a conversation in which tools were used. */
export interface Question
  extends Pick<CompletionRequest, 'messages' | 'tools' | 'answerSchema'>,
    Omit<ModelRequest, 'prompt'> {}

export interface PaidTurn {
  readonly turn: ModelTurn
  readonly tokens: TokenUsage
  /** null when the price is unknown. */
  readonly costUsd: number | null
}

/** The default limit. Without a limit no cost can be reserved. */
export const defaultMaxOutputTokens = 4_096

/** Asks once, with budget, time limit and retries around a provider's single call. Throws as `Model.text` does. */
export async function ask(parts: ModelParts, question: Question): Promise<PaidTurn> {
  const signal = question.signal ?? new AbortController().signal
  const completion = await uninterrupted(parts.name, signal, () =>
    completeWithRetries(() => pricedCall(parts, question, signal), { ...parts, signal }),
  )
  if (completion.kind === 'failure')
    throw modelError({ ...completion, message: `${parts.name}: ${completion.message}` })
  const { tokens, kind: _, ...turn } = completion
  return { turn, tokens, costUsd: parts.price === null ? null : costOf(tokens, parts.price) }
}

/** Reserves, calls, settles. A call without an end is charged in full as reserved, because it may be billed. */
async function pricedCall(parts: ModelParts, question: Question, signal: AbortSignal): Promise<Completion> {
  const { budget = parts.budget, maxOutputTokens = defaultMaxOutputTokens, timeoutMs, ...asked } = question
  const request: CompletionRequest = {
    ...asked,
    system: asked.system,
    temperature: asked.temperature,
    maxOutputTokens,
    signal,
  }
  const estimate = estimateUsd(request, parts.price)
  const grant = budget.reserve(estimate)
  if (grant.kind === 'refused') throw modelError({ reason: 'over_budget', message: grant.message })
  let cost = estimate
  try {
    const completion = await timedCall(
      parts.opened,
      request,
      timeoutMs ?? parts.timeoutMs ?? usualTimeoutMs(maxOutputTokens),
    )
    const ended = completion.kind === 'answer' || completion.reason !== 'timeout'
    if (ended && parts.price !== null)
      cost = completion.kind === 'answer' ? costOf(completion.tokens, parts.price) : 0
    return completion
  } finally {
    grant.settle(cost)
  }
}

/** Thinking models write about thirty tokens per second. Node closes a silent connection after five minutes. */
function usualTimeoutMs(maxOutputTokens: number): number {
  return Math.min(290_000, Math.max(120_000, maxOutputTokens * 35))
}

/** One call with a time limit: fails with `timeout` after the limit, and rejects at once when the caller's signal is aborted. */
async function timedCall(
  opened: ResolvedModel,
  request: CompletionRequest,
  timeoutMs: number,
): Promise<Completion> {
  const stop = new AbortController()
  const timeout = Promise.withResolvers<Completion>()
  const interrupted = (): void => {
    timeout.reject(request.signal.reason)
    stop.abort()
  }
  const timer = setTimeout(() => {
    timeout.resolve({ kind: 'failure', reason: 'timeout', message: `no answer within ${timeoutMs} ms` })
    stop.abort()
  }, timeoutMs)
  request.signal.addEventListener('abort', interrupted, { once: true })
  if (request.signal.aborted) interrupted()
  try {
    // Raced, because a provider that ignores its signal must not block the run.
    return await Promise.race([timeout.promise, opened.complete({ ...request, signal: stop.signal })])
  } finally {
    clearTimeout(timer)
    request.signal.removeEventListener('abort', interrupted)
  }
}
