import { noTokens, type TokenUsage } from '../core/trial.ts'
import type { Budget } from './budget.ts'
import type { ModelRequest } from './contract.ts'
import { estimateUsd } from './estimate-usd.ts'
import { modelError } from './model-error.ts'
import { costOf, type TokenPrice } from './pricing.ts'
import type { Completion, CompletionRequest, ModelTurn, ResolvedModel } from './provider.ts'
import { completeWithRetries, type RetryTools } from './retry.ts'
import { uninterrupted } from './uninterrupted.ts'

export interface ModelParts extends Omit<RetryTools, 'signal'> {
  readonly name: string
  readonly opened: ResolvedModel
  /** null = unknown. */
  readonly price: TokenPrice | null
  readonly budget: Budget
  /** Of one call; null = as long as its longest answer may take. */
  readonly timeoutMs: number | null
}

/** A question of any form: a prompt, or a conversation in which tools were used. */
export interface Question
  extends Pick<CompletionRequest, 'messages' | 'tools' | 'answerSchema'>,
    Omit<ModelRequest, 'prompt'> {}

export interface PaidTurn {
  readonly turn: ModelTurn
  readonly tokens: TokenUsage
  /** null = unmetered. */
  readonly costUsd: number | null
}

/** What a request without a limit may answer. A limit there must be: without one nothing can be reserved. */
export const defaultMaxOutputTokens = 4_096

/** One answer: budget, time limit and retries around a provider's single call. Throws as `Model.text` promises. */
export async function ask(parts: ModelParts, question: Question): Promise<PaidTurn> {
  const signal = question.signal ?? new AbortController().signal
  const completion = await uninterrupted(parts.name, signal, () =>
    completeWithRetries(() => pricedCall(parts, question, signal), { ...parts, signal }),
  )
  if (completion.kind === 'failure')
    throw modelError({
      ...completion,
      message: `${parts.name}: ${completion.message}`,
      tokens: noTokens,
      costUsd: 0,
    })
  const { tokens, kind: _, ...turn } = completion
  return { turn, tokens, costUsd: parts.price === null ? null : costOf(tokens, parts.price) }
}

/** Reserves, calls, settles. A call that did not end is taken to have cost what was reserved: it may well be billed. */
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
  if (grant.kind === 'refused')
    throw modelError({ reason: 'over_budget', message: grant.message, tokens: noTokens, costUsd: 0 })
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

/** Thinking models write some thirty tokens in a second. Five minutes is where Node gives a silent connection up by itself. */
function usualTimeoutMs(maxOutputTokens: number): number {
  return Math.min(290_000, Math.max(120_000, maxOutputTokens * 35))
}

/** One call that ends in time: with a failure of kind `timeout` after the limit, rejected at once when the caller's signal is aborted. */
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
    // Raced, because a provider that does not heed its signal must not hang the run.
    return await Promise.race([timeout.promise, opened.complete({ ...request, signal: stop.signal })])
  } finally {
    clearTimeout(timer)
    request.signal.removeEventListener('abort', interrupted)
  }
}
