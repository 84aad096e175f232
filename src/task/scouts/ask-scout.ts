import type { AgentFailure } from '../../core/event.ts'
import { type Model, type ModelAnswer, modelFailureOf } from '../../models/contract.ts'
import type { Sleep } from '../../models/retry.ts'
import { loopLimits } from '../contract.ts'

export interface ScoutCall {
  /** Opened without retries of its own: they are counted here. */
  readonly model: Model
  readonly system: string
  readonly prompt: string
  /** Of one try. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly sleep: Sleep
}

export type ScoutCallEnd =
  | { readonly kind: 'answer'; readonly answer: ModelAnswer<string>; readonly tries: number }
  | { readonly kind: 'failed'; readonly message: string; readonly tries: number }
  | { readonly kind: 'cancelled'; readonly tries: number }

const maxOutputTokens = 8_192
const waitsMs = [1_000, 2_000, 4_000]

/** What a moment may mend. Anything else fails at once, as an answer that fits no schema does. */
const passing: ReadonlySet<AgentFailure | 'over_budget'> = new Set([
  'timeout',
  'rate_limit',
  'overloaded',
  'unavailable',
])

/** One try and three retries, after 1, 2 and 4 seconds. */
export async function askScout(call: ScoutCall): Promise<ScoutCallEnd> {
  const { signal, sleep } = call
  for (let tries = 1; ; tries += 1) {
    const end = await attempt(call)
    if (signal.aborted) return { kind: 'cancelled', tries }
    if (end.kind === 'answer') return { kind: 'answer', answer: end.answer, tries }
    if (!end.passing || tries > loopLimits.scoutRetries)
      return { kind: 'failed', message: end.message, tries }
    try {
      await sleep(waitsMs[tries - 1] ?? 0, signal)
    } catch (error) {
      if (signal.aborted) return { kind: 'cancelled', tries }
      throw error
    }
  }
}

type Attempt =
  | { readonly kind: 'answer'; readonly answer: ModelAnswer<string> }
  | { readonly kind: 'failed'; readonly message: string; readonly passing: boolean }

async function attempt({ model, system, prompt, timeoutMs, signal }: ScoutCall): Promise<Attempt> {
  const late = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await model.text({
      system,
      prompt,
      maxOutputTokens,
      signal: AbortSignal.any([signal, late]),
    })
    return { kind: 'answer', answer }
  } catch (error) {
    if (late.aborted || signal.aborted)
      return { kind: 'failed', message: `no answer within ${timeoutMs} ms`, passing: true }
    const failure = modelFailureOf(error)
    if (failure === null) throw error
    return { kind: 'failed', message: failure.message, passing: passing.has(failure.reason) }
  }
}
