import { setTimeout as wait } from 'node:timers/promises'
import type { AgentFailure } from '../core/event.ts'
import type { Completion } from './provider.ts'

export interface CallRetryPolicy {
  /** Number of calls, including the first one. */
  readonly attempts: number
  readonly firstWaitMs: number
  readonly longestWaitMs: number
  /** The factor between consecutive waits. Default 2. */
  readonly multiplier?: number
  /** The maximum share that jitter adds to a wait. Without it, jitter shortens a wait to half at least. */
  readonly jitter?: number
}

export const defaultRetryPolicy: CallRetryPolicy = { attempts: 5, firstWaitMs: 1_000, longestWaitMs: 60_000 }

/** Failures to retry unless the provider decides otherwise: a server may recover, a wrong address stays wrong. */
const passing: ReadonlySet<AgentFailure> = new Set(['rate_limit', 'overloaded'])

/**
 * How long to wait before the next call; null = give up. Waits double, with jitter between half and the whole, and are
 * never shorter than the server requested. If it requests more than the policy allows, give up.
 */
export function retryWaitMs(
  failure: Pick<Extract<Completion, { kind: 'failure' }>, 'reason' | 'passing' | 'retryAfterMs'>,
  callsMade: number,
  policy: CallRetryPolicy,
  random: () => number,
): number | null {
  const mayPass = failure.passing ?? passing.has(failure.reason)
  if (!mayPass || callsMade >= policy.attempts) return null
  const asked = failure.retryAfterMs ?? 0
  if (asked > policy.longestWaitMs) return null
  return Math.max(asked, backoffMs(callsMade - 1, policy, random))
}

/** The wait before retry `retry`, counted from 0. */
export function backoffMs(
  retry: number,
  policy: CallRetryPolicy = defaultRetryPolicy,
  random: () => number = Math.random,
): number {
  const { longestWaitMs, firstWaitMs, multiplier = 2, jitter } = policy
  const full = Math.min(longestWaitMs, firstWaitMs * multiplier ** retry)
  return Math.round(jitter === undefined ? full * (0.5 + random() / 2) : full * (1 + jitter * random()))
}

/** Rejects when the signal is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

export const realSleep: Sleep = (ms, signal) => wait(ms, undefined, { signal })

export interface RetryTools {
  readonly policy: CallRetryPolicy
  readonly sleep: Sleep
  readonly random: () => number
  readonly signal: AbortSignal
}

/** Calls until there is an answer, a failure that a retry cannot fix, or no attempt left. */
export async function completeWithRetries(
  call: () => Promise<Completion>,
  { policy, sleep, random, signal }: RetryTools,
): Promise<Completion> {
  for (let callsMade = 1; ; callsMade += 1) {
    const completion = await call()
    if (completion.kind === 'answer') return completion
    const waitMs = retryWaitMs(completion, callsMade, policy, random)
    if (waitMs === null) return completion
    await sleep(waitMs, signal)
  }
}
