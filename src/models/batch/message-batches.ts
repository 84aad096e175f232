import { createAnthropic } from '@ai-sdk/anthropic'
import {
  APICallError,
  experimental_cancelBatch as cancelBatch,
  experimental_getBatchResults as getBatchResults,
  experimental_getBatchStatus as getBatchStatus,
  experimental_listBatches as listBatches,
  experimental_startBatch as startBatch,
  type Experimental_TextBatchItemResult as TextBatchItemResult,
} from 'ai'
import { contentHash } from '../../io/content-hash.ts'
import type { Access } from '../ai-sdk/access.ts'
import { claudeThinking, toModelMessages } from '../ai-sdk/messages.ts'
import type { SdkAnswer } from '../ai-sdk/sdk-answer.ts'
import type { CompletionRequest } from '../provider.ts'

/** Anthropic's Message Batches, one request per method. Throws what the SDK throws. */
export interface MessageBatches {
  submit(requests: ReadonlyMap<string, BatchRequest>, signal: AbortSignal): Promise<string>
  /** `gone`: the provider does not know the batch, or has deleted its results. */
  state(batch: string, signal: AbortSignal): Promise<'pending' | 'ended' | 'gone'>
  results(batch: string, signal: AbortSignal): AsyncIterable<BatchResult>
  cancel(batch: string): Promise<void>
  /** Batches with this many requests that were created at or after this time. */
  find(madeAfter: string, requests: number, signal: AbortSignal): Promise<readonly string[]>
}

/** `refused`: a retry would fail too. `again`: it was not answered, and may be retried as an ordinary call. */
export type BatchResult = { readonly id: string } & (
  | { readonly kind: 'answered'; readonly answer: SdkAnswer }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'again' }
)

export function openMessageBatches(model: string, access: Access): MessageBatches {
  const provider = createAnthropic(access)
  const reference = (id: string) =>
    ({ version: 2, id, provider: provider.experimental_batch().provider }) as const
  return {
    submit: async (requests, abortSignal) => {
      const { id } = await startBatch({
        provider,
        abortSignal,
        requests: [...requests].map(([key, request]) => ({
          id: key,
          type: 'text' as const,
          model,
          messages: toModelMessages(request.messages, undefined),
          maxOutputTokens: request.maxOutputTokens,
          ...(request.system !== undefined && request.system !== '' && { instructions: request.system }),
          ...(request.temperature !== undefined && { temperature: request.temperature }),
          ...(request.effort !== undefined && { reasoning: request.effort }),
          providerOptions: claudeThinking(request),
        })),
      })
      return id
    },
    state: async (batch, abortSignal) => {
      try {
        const now = await getBatchStatus({ provider, batch: reference(batch), abortSignal, maxRetries: 0 })
        const isArchived = (now.providerMetadata?.anthropic?.archivedAt ?? null) !== null
        return now.status === 'pending' ? 'pending' : isArchived ? 'gone' : 'ended'
      } catch (error) {
        if (APICallError.isInstance(error) && error.statusCode === 404) return 'gone'
        throw error
      }
    },
    results: async function* (batch, abortSignal) {
      const items = getBatchResults({ provider, batch: reference(batch), abortSignal, maxRetries: 0 })
      for await (const item of items) if (item.type === 'text') yield resultOf(item)
    },
    cancel: async (batch) => {
      await cancelBatch({ provider, batch: reference(batch), timeout: 10_000 })
    },
    find: async (madeAfter, requests, abortSignal) => {
      const { batches } = await listBatches({ provider, limit: 100, abortSignal, maxRetries: 0 })
      return batches
        .filter(
          ({ createdAt, requestCounts }) =>
            createdAt !== undefined &&
            Date.parse(createdAt) >= Date.parse(madeAfter) &&
            requestCounts?.total === requests,
        )
        .map(({ id }) => id)
    },
  }
}

function resultOf(item: TextBatchItemResult): BatchResult {
  const { id } = item
  if (item.status === 'succeeded')
    return { id, kind: 'answered', answer: { ...item, toolCalls: [], response: { messages: [] } } }
  if (item.status === 'failed' && item.error.type === 'invalid_request_error')
    return { id, kind: 'refused', message: item.error.message }
  return { id, kind: 'again' }
}

export type BatchRequest = Pick<
  CompletionRequest,
  'system' | 'messages' | 'maxOutputTokens' | 'temperature' | 'effort'
>

/**
 * The same for the same request, so that a later process finds its answer. Repeated requests are numbered, because each
 * needs its own answer.
 */
export function createRequestIds(model: string): (request: BatchRequest) => string {
  const asked = new Map<string, number>()
  return ({ system, messages, maxOutputTokens, temperature, effort }) => {
    const hash = contentHash([
      model,
      system ?? '',
      JSON.stringify(messages),
      String(maxOutputTokens),
      String(temperature),
      ...(effort === undefined ? [] : [effort]),
    ]).slice(0, 48)
    const count = (asked.get(hash) ?? 0) + 1
    asked.set(hash, count)
    return `${hash}-${count}`
  }
}
