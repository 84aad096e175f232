import type { CompletionRequest } from '../provider.ts'
import { thinkingTokens } from '../thinking-tokens.ts'
import type { ProviderOptions } from './messages.ts'

type Asked = Pick<CompletionRequest, 'effort' | 'maxOutputTokens'>

/**
 * Older Claude models think within a budget on top of the answer. By itself the SDK takes a share of the longest answer the
 * model could ever give, which is more than was reserved for the call. Newer ones take the effort instead of it.
 */
export function claudeThinking(request: Asked): ProviderOptions {
  const budgetTokens = thinkingTokens(request)
  return budgetTokens === 0 ? {} : { anthropic: { thinking: { type: 'enabled', budgetTokens } } }
}

/** Gemini 2.5 thinks within the tokens of the answer: a budget of its own choice would leave none to answer with. */
export function geminiThinking(model: string, request: Asked): ProviderOptions {
  const wanted = model.includes('gemini-2.5') ? thinkingTokens(request) : 0
  if (wanted === 0) return {}
  return {
    google: { thinkingConfig: { thinkingBudget: Math.min(wanted, Math.floor(request.maxOutputTokens / 2)) } },
  }
}
