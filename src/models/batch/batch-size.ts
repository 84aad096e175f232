/** How much one batch holds. */
export interface BatchSize {
  readonly requests: number
  readonly bytes: number
}

/** What Anthropic takes in one batch. */
const providersMost: BatchSize = { requests: 100_000, bytes: 256 * 1024 * 1024 }

/** A share of what the provider takes, 0 to 1. */
export function batchSize(share: number): BatchSize {
  return {
    requests: Math.floor(providersMost.requests * share),
    bytes: Math.floor(providersMost.bytes * share),
  }
}
