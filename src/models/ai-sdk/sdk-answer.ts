import type { LanguageModelUsage } from 'ai'
import type { TokenUsage } from '../../core/trial.ts'
import type { Completion, CompletionRequest } from '../provider.ts'

export interface SdkAnswer {
  readonly text: string
  readonly reasoningText?: string | undefined
  readonly toolCalls: readonly {
    readonly toolCallId: string
    readonly toolName: string
    readonly input: unknown
  }[]
  readonly finishReason: string
  readonly rawFinishReason?: string | undefined
  readonly usage: LanguageModelUsage
  readonly response: { readonly messages: readonly { readonly role: string }[] }
}

/** An answer, or why there is none although the provider responded. */
export function completionOf(
  result: SdkAnswer,
  request: Pick<CompletionRequest, 'system' | 'messages' | 'maxOutputTokens'>,
): Completion {
  const failure = failedFinish(result, request)
  if (failure !== null) return failure
  const opaque = result.response.messages.find(({ role }) => role === 'assistant')
  return {
    kind: 'answer',
    text: result.text,
    thinking: result.reasoningText ?? '',
    toolCalls: result.toolCalls.map(({ toolCallId, toolName, input }) => ({
      id: toolCallId,
      name: toolName,
      input,
    })),
    tokens: tokensOf(result.usage) ?? countedTokens(result.text, request),
    ...(opaque !== undefined && { opaque }),
  }
}

function failedFinish(
  { finishReason, rawFinishReason, text, toolCalls }: SdkAnswer,
  { maxOutputTokens }: Pick<CompletionRequest, 'maxOutputTokens'>,
): Completion | null {
  const isEmpty = text === '' && toolCalls.length === 0
  const why = rawFinishReason ?? finishReason
  if (finishReason === 'content-filter')
    return failure('refused', `the model refused to answer (${why})${text === '' ? '' : `: ${text}`}`)
  if (rawFinishReason === 'model_context_window_exceeded')
    return failure('context', 'the conversation has filled the context of the model')
  if (finishReason === 'length' && isEmpty)
    return failure(
      'malformed',
      `the model used all of its ${maxOutputTokens} output tokens without an answer`,
    )
  if (finishReason === 'error' || (isEmpty && finishReason !== 'stop'))
    return { ...failure('malformed', `the model ended without an answer (${why})`), passing: true }
  return null
}

function failure(
  reason: 'refused' | 'context' | 'malformed',
  message: string,
): Extract<Completion, { kind: 'failure' }> {
  return { kind: 'failure', reason, message }
}

/** null when the server did not report tokens. */
function tokensOf({
  inputTokens,
  inputTokenDetails,
  outputTokens,
  outputTokenDetails,
}: LanguageModelUsage): TokenUsage | null {
  if (inputTokens === undefined && outputTokens === undefined) return null
  const cacheRead = inputTokenDetails.cacheReadTokens ?? 0
  const cacheWrite = inputTokenDetails.cacheWriteTokens ?? 0
  const thinking = outputTokenDetails.reasoningTokens
  return {
    input: inputTokenDetails.noCacheTokens ?? Math.max(0, (inputTokens ?? 0) - cacheRead - cacheWrite),
    output: outputTokens ?? 0,
    cacheRead,
    cacheWrite,
    ...(thinking !== undefined && { thinking }),
  }
}

/** An estimate of four bytes per token, for a server that does not report tokens. Without it the call would look free. */
function countedTokens(
  text: string,
  { system = '', messages }: Pick<CompletionRequest, 'system' | 'messages'>,
): TokenUsage {
  const tokens = (said: string): number => Math.ceil(Buffer.byteLength(said) / 4)
  return {
    input: tokens(system) + tokens(JSON.stringify(messages)),
    output: tokens(text),
    cacheRead: 0,
    cacheWrite: 0,
  }
}
