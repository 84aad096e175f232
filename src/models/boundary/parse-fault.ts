import { GantryError } from '../../core/error.ts'
import { type FaultRule, faultsSchema } from './faults.ts'

const grammar =
  /^(?<fault>[a-z_]+|\d{3})(?:@(?<at>\d+(?:,\d+)*)|%(?<percent>\d+(?:\.\d+)?)|\/(?<every>\d+))?(?::(?<amount>\d+))?$/

const byStatus: Readonly<Record<string, string>> = { '429': 'rate_limit', '529': 'overloaded' }

/** What the number behind the colon means. */
const amountOf: Readonly<Record<string, string>> = {
  rate_limit: 'retry_after_secs',
  overloaded: 'retry_after_secs',
  server_error: 'retry_after_secs',
  slow: 'delay_ms',
  stall: 'after_chunks',
  cut: 'after_chunks',
  malformed: 'after_chunks',
}

/**
 * A fault in one word, as on a command line: `FAULT[WHEN][:AMOUNT]`.
 *
 * - FAULT: a status from 400 to 599, or a name of the file format (`cut`, `stall`, `slow`, `malformed`, …).
 * - WHEN: `@0` or `@0,2` the calls with these numbers, `%20` that many of a hundred calls, `/3` every third call; default every call.
 * - AMOUNT: seconds of `retry-after` for a status, milliseconds for `slow`, unharmed pieces for `stall`, `cut` and `malformed`.
 *
 * `429@0`, `529%20`, `cut@2:3`, `slow:500`, `503/4:2`. Throws GantryError USAGE.
 */
export function parseFault(text: string): FaultRule {
  const parts = grammar.exec(text)?.groups
  if (parts === undefined) throw noFault(text, 'it is not of the form FAULT[WHEN][:AMOUNT]')
  const { fault = '', at, percent, every, amount } = parts
  const isStatus = /^\d/.test(fault)
  const name = isStatus ? (byStatus[fault] ?? 'server_error') : fault
  const amountKey = amountOf[name]
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
  return new GantryError('USAGE', `'${text}' is no fault: ${why}`, {
    hint: 'Write for example 429@0, 529%20, cut@2:3 or slow:500.',
  })
}
