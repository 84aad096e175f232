import type { z } from 'zod'
import type { AgentFailure } from '../../core/event.ts'
import { type Model, type ModelAnswer, modelFailureOf } from '../../models/contract.ts'
import { extractJson } from '../../models/extract-json.ts'
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

type ReadAnswer<Report> =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'wrong'; readonly why: string }

/** The first JSON value in an answer that fits the schema; why the likeliest does not, when none does. */
export function readAnswer<Report>(answer: string, schema: z.ZodType<Report>): ReadAnswer<Report> {
  let why: string | null = null
  for (const value of extractJson(answer)) {
    const read = schema.safeParse(value)
    if (read.success) return { kind: 'report', report: read.data }
    why ??= whyWrong(value, read.error)
  }
  return { kind: 'wrong', why: why ?? 'the answer holds no JSON' }
}

function whyWrong(value: unknown, error: z.ZodError): string {
  if (
    typeof value === 'object' &&
    value !== null &&
    'schema_version' in value &&
    value.schema_version !== '1'
  )
    return `schema_version is ${JSON.stringify(value.schema_version)}, not "1"`
  const [issue] = error.issues
  return issue === undefined
    ? 'it does not fit the schema'
    : `${issue.path.join('.') || 'the answer'}: ${issue.message}`
}
