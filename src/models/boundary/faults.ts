import { z } from 'zod'
import { GantryError } from '../../core/error.ts'
import { seededRandom } from '../../core/random.ts'

export type Fault =
  /** Instead of an answer: 429 with `retry-after`, 529, 500 or any other status. */
  | {
      readonly kind: 'status'
      readonly status: number
      readonly retryAfterSecs?: number
      readonly message?: string
    }
  | { readonly kind: 'slow_first_byte'; readonly delayMs: number }
  /** The stream stops after `afterChunks` pieces and stays open. */
  | { readonly kind: 'stall'; readonly afterChunks: number }
  /** The connection ends in the middle of piece `afterChunks`. */
  | { readonly kind: 'cut'; readonly afterChunks: number }
  | { readonly kind: 'malformed_chunk'; readonly atChunk: number }
  | { readonly kind: 'wrong_content_type'; readonly contentType: string }

/** Decides whether a call gets a fault. Deterministic: the same calls get the same faults. */
export interface FaultPlan {
  /** `index` in the order of arrival, from 0; null = no fault. */
  next(index: number): Fault | null
}

const count = z.int().min(0)

const defaultStatus = { rate_limit: 429, overloaded: 529, server_error: 500 } as const

/** The keys that each fault supports. Any other key is an error. */
const ofStatus = ['status', 'retry_after_secs', 'message']
const optionsOf = {
  rate_limit: ofStatus,
  overloaded: ofStatus,
  server_error: ofStatus,
  slow: ['delay_ms'],
  stall: ['after_chunks'],
  cut: ['after_chunks'],
  malformed: ['after_chunks'],
  wrong_content_type: ['content_type'],
}
type FaultName = keyof typeof optionsOf
const names = Object.keys(optionsOf) as FaultName[]
const options = [...new Set(Object.values(optionsOf).flat())]

const ruleSchema = z
  .strictObject({
    fault: z.enum(names).describe('What goes wrong.'),
    at: z
      .union([count, z.array(count).min(1)])
      .optional()
      .describe('Index of the call to break, from 0, or a list of indexes.'),
    every: z.int().positive().optional().describe('Break every n-th call: 3 means calls 2, 5, 8, …'),
    probability: z
      .number()
      .min(0)
      .max(1)
      .optional()
      .describe('Probability that a call is broken, from 0 to 1.'),
    times: z.int().positive().optional().describe('Maximum number of times. Default: no limit.'),
    status: z
      .int()
      .min(400)
      .max(599)
      .optional()
      .describe('HTTP status. Default: 429 for rate_limit, 529 for overloaded, 500 for server_error.'),
    message: z.string().min(1).optional().describe("The error's message."),
    retry_after_secs: count
      .optional()
      .describe('Value of retry-after. Default: 1 for rate_limit, otherwise none.'),
    delay_ms: count.optional().describe('Time before the first byte. Default 1000.'),
    after_chunks: count
      .optional()
      .describe('Pieces of the answer that arrive intact. Default: 1; 0 for malformed.'),
    content_type: z.string().min(1).optional().describe('Default: text/html.'),
  })
  .check((context) => {
    const rule = context.value
    const complain = (message: string, key?: string): void => {
      context.issues.push({ code: 'custom', message, input: rule, path: key === undefined ? [] : [key] })
    }
    const when = [rule.at, rule.every, rule.probability].filter((value) => value !== undefined)
    if (when.length > 1) complain('give at most one of at, every and probability; none means every call')
    for (const key of options)
      if (Object.hasOwn(rule, key) && !optionsOf[rule.fault].includes(key))
        complain(`${key} has no effect for ${rule.fault}`, key)
  })

/** `faults:` and `seed:` of a script, or of a separate file. */
export const faultsSchema = z.strictObject({
  faults: z.array(ruleSchema).describe('The first matching rule breaks the call.'),
  seed: z.int().default(0).describe('The same seed breaks the same calls. Affects only probability.'),
})

export type FaultRule = z.output<typeof ruleSchema>
export type FaultsConfig = z.output<typeof faultsSchema>

/**
 * Only calls that generate are counted; token counts and model lists are neither counted nor broken. Every rule draws
 * for every call, so adding or exhausting one rule does not change the others.
 */
export function createFaultPlan({ faults, seed }: FaultsConfig): FaultPlan {
  const rules = faults.map((rule, place) => {
    const random = seededRandom(seed + place * 7_919)
    const fault = faultOf(rule)
    let left = rule.times ?? Infinity
    const fits = (index: number): boolean => {
      const drawn = random()
      return left > 0 && isDue(rule, index, drawn)
    }
    const take = (): Fault => {
      left -= 1
      return fault
    }
    return { fits, take }
  })
  return { next: (index) => rules.filter(({ fits }) => fits(index))[0]?.take() ?? null }
}

function isDue({ at, every, probability }: FaultRule, index: number, drawn: number): boolean {
  if (at !== undefined) return typeof at === 'number' ? at === index : at.includes(index)
  if (every !== undefined) return index % every === every - 1
  return probability === undefined || drawn < probability
}

function faultOf(rule: FaultRule): Fault {
  switch (rule.fault) {
    case 'rate_limit':
    case 'overloaded':
    case 'server_error': {
      const retryAfterSecs = rule.retry_after_secs ?? (rule.fault === 'rate_limit' ? 1 : undefined)
      return {
        kind: 'status',
        status: rule.status ?? defaultStatus[rule.fault],
        ...(retryAfterSecs !== undefined && { retryAfterSecs }),
        ...(rule.message !== undefined && { message: rule.message }),
      }
    }
    case 'slow':
      return { kind: 'slow_first_byte', delayMs: rule.delay_ms ?? 1_000 }
    case 'stall':
      return { kind: 'stall', afterChunks: rule.after_chunks ?? 1 }
    case 'cut':
      return { kind: 'cut', afterChunks: rule.after_chunks ?? 1 }
    case 'malformed':
      return { kind: 'malformed_chunk', atChunk: rule.after_chunks ?? 0 }
    case 'wrong_content_type':
      return { kind: 'wrong_content_type', contentType: rule.content_type ?? 'text/html' }
  }
}

const grammar =
  /^(?<fault>[a-z_]+|\d{3})(?:@(?<at>\d+(?:,\d+)*)|%(?<percent>\d+(?:\.\d+)?)|\/(?<every>\d+))?(?::(?<amount>\d+))?$/

const byStatus: Readonly<Record<string, string>> = { '429': 'rate_limit', '529': 'overloaded' }

/** The keys that the number after the colon may mean. */
const amounts = ['retry_after_secs', 'delay_ms', 'after_chunks']

/**
 * A fault in its short form for the command line: `FAULT[WHEN][:AMOUNT]`.
 *
 * - FAULT: a status from 400 to 599, or a name of the file format (`cut`, `stall`, `slow`, `malformed`, …).
 * - WHEN: `@0` or `@0,2` the calls with these indexes, `%20` that percentage of calls, `/3` every third call; default
 * every call.
 * - AMOUNT: seconds of `retry-after` for a status, milliseconds for `slow`, intact pieces for `stall`, `cut` and
 * `malformed`.
 *
 * `429@0`, `529%20`, `cut@2:3`, `slow:500`, `503/4:2`. Throws GantryError USAGE.
 */
export function parseFault(text: string): FaultRule {
  const parts = grammar.exec(text)?.groups
  if (parts === undefined) throw noFault(text, 'expected FAULT[WHEN][:AMOUNT]')
  const { fault = '', at, percent, every, amount } = parts
  const isStatus = /^\d/.test(fault)
  const name = isStatus ? (byStatus[fault] ?? 'server_error') : fault
  const known: Readonly<Record<string, readonly string[]>> = optionsOf
  const amountKey = amounts.find((key) => known[name]?.includes(key))
  if (amount !== undefined && amountKey === undefined) throw noFault(text, `${name} takes no amount`)
  const read = faultsSchema.safeParse({
    faults: [
      {
        fault: name,
        ...(isStatus && { status: Number(fault) }),
        ...(at !== undefined && { at: at.split(',').map(Number) }),
        ...(percent !== undefined && { probability: Number(percent) / 100 }),
        ...(every !== undefined && { every: Number(every) }),
        ...(amount !== undefined && amountKey !== undefined && { [amountKey]: Number(amount) }),
      },
    ],
  })
  const rule = read.data?.faults[0]
  if (rule !== undefined) return rule
  throw noFault(text, read.error?.issues.map(({ message }) => message).join('; ') ?? 'it is empty')
}

function noFault(text: string, why: string): GantryError {
  return new GantryError('USAGE', `'${text}' is not a valid fault: ${why}`, {
    hint: 'Write for example 429@0, 529%20, cut@2:3 or slow:500.',
  })
}
