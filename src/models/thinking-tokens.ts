import type { CompletionRequest } from './provider.ts'

const shares = { none: 0, low: 0.1, medium: 0.3, high: 0.6 } as const

/** Anthropic takes no smaller budget. */
const fewest = 1_024

/**
 * What a model may think beside its answer where thoughts have a budget of their own: a share of the answer's, so that an
 * effort never makes a call many times as dear. 0 where nothing was asked for.
 */
export function thinkingTokens({
  effort,
  maxOutputTokens,
}: Pick<CompletionRequest, 'effort' | 'maxOutputTokens'>): number {
  if (effort === undefined || effort === 'none') return 0
  return Math.max(fewest, Math.round(maxOutputTokens * shares[effort]))
}
