import { GantryError } from '../core/error.ts'
import { noTokens } from './add-usage.ts'
import type { Budget } from './budget.ts'
import type { Model, ModelAnswer, ModelRequest } from './contract.ts'
import { modelError } from './model-error.ts'
import { costOf, type TokenPrice } from './pricing.ts'
import type { Completion, CompletionRequest, OpenModel } from './provider.ts'
import { completeWithRetries, type RetryTools } from './retry.ts'
import { structured } from './structured.ts'

export interface ModelParts extends Omit<RetryTools, 'signal'> {
  readonly name: string
  readonly opened: OpenModel
  /** null = unknown. */
  readonly price: TokenPrice | null
  readonly budget: Budget
  /** Of one call. */
  readonly timeoutMs: number
}

/** What a request without a limit may answer. A limit there must be: without one nothing can be reserved. */
const defaultMaxOutputTokens = 4_096

/** Puts budget, time limit, retries and schema around a provider's single call. */
export function createModel(parts: ModelParts): Model {
  const text = async (request: ModelRequest): Promise<ModelAnswer<string>> => {
    const signal = request.signal ?? new AbortController().signal
    const completion = await uninterrupted(parts.name, signal, () =>
      completeWithRetries(() => pricedCall(parts, request, signal), { ...parts, signal }),
    )
    if (completion.kind === 'failure')
      throw modelError({
        ...completion,
        message: `${parts.name}: ${completion.message}`,
        tokens: noTokens,
        costUsd: 0,
      })
    return {
      value: completion.text,
      tokens: completion.tokens,
      costUsd: parts.price === null ? null : costOf(completion.tokens, parts.price),
    }
  }
  return { name: parts.name, text, structured: (request) => structured(text, request) }
}

/** Reserves, calls, settles. A call that did not end is taken to have cost what was reserved: it may well be billed. */
async function pricedCall(
  parts: ModelParts,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Completion> {
  const maxOutputTokens = request.maxOutputTokens ?? defaultMaxOutputTokens
  const estimate = estimateUsd(request, maxOutputTokens, parts.price)
  const grant = (request.budget ?? parts.budget).reserve(estimate)
  if (grant.kind === 'refused')
    throw modelError({ reason: 'over_budget', message: grant.message, tokens: noTokens, costUsd: 0 })
  let cost = estimate
  try {
    const completion = await timedCall(parts, {
      system: request.system,
      prompt: request.prompt,
      maxOutputTokens,
      temperature: request.temperature,
      signal,
    })
    const ended = completion.kind === 'answer' || completion.reason !== 'timeout'
    if (ended && parts.price !== null)
      cost = completion.kind === 'answer' ? costOf(completion.tokens, parts.price) : 0
    return completion
  } finally {
    grant.settle(cost)
  }
}

async function timedCall({ opened, timeoutMs }: ModelParts, request: CompletionRequest): Promise<Completion> {
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

/** Whatever an aborted call throws is told in one way. */
async function uninterrupted<T>(name: string, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  try {
    signal.throwIfAborted()
    return await call()
  } catch (cause) {
    if (!signal.aborted) throw cause
    throw new GantryError('INTERRUPTED', `stopped while asking ${name}`, { cause })
  }
}

/**
 * The most a call is likely to cost. Tokens of the prompt are taken as a third of its bytes, which is more than
 * tokenizers make of prose and code, and a little for the envelope.
 */
function estimateUsd(
  request: ModelRequest,
  maxOutputTokens: number,
  price: TokenPrice | null,
): number | null {
  if (price === null) return null
  const bytes = Buffer.byteLength(request.prompt) + Buffer.byteLength(request.system ?? '')
  const inputPrice = Math.max(price.input, price.cacheWrite)
  return ((Math.ceil(bytes / 3) + 50) * inputPrice + maxOutputTokens * price.output) / 1_000_000
}
