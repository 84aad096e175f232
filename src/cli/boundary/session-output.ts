import { createColors } from 'picocolors'
import { counted, formatCount } from '../../core/counted.ts'
import type { AttachedEnd } from '../../io/run-attached.ts'
import {
  type ExchangeFacts,
  endpointVariables,
  type ModelEndpoint,
  type SessionReport,
} from '../../models/boundary/contract.ts'
import { plainLine, plainText } from '../../report/plain-text.ts'
import { formatCost } from '../../report/quantity.ts'
import type { CliContext } from '../context.ts'

export interface SessionOutput {
  /** `hasProgram`: a program is started and gets the address. Without one, the address is printed. */
  ready(endpoint: ModelEndpoint, hasProgram: boolean): void
  exchange(facts: ExchangeFacts): void
  end(end: BoundaryEnd): void
}

export interface BoundaryEnd {
  readonly report: SessionReport
  /** False when a script or a cassette answered: the cost is then what it would have been. */
  readonly isPaid: boolean
  /** null when there was none to run. */
  readonly program: AttachedEnd | null
  /** Calls that were not answered because the cap was reached. */
  readonly refused: number
  /** null when nothing is recorded. */
  readonly cassette: { readonly dir: string; readonly isKept: boolean } | null
}

/** One JSON object per line on standard output. It includes the key, which a program that starts the server needs. */
export function jsonOutput({ stdout }: CliContext): SessionOutput {
  const say = (line: object): void => stdout.write(`${JSON.stringify(line)}\n`)
  return {
    ready: (endpoint) => say({ kind: 'ready', ...endpoint, env: endpointVariables(endpoint) }),
    exchange: ({ kind, ...facts }) => say({ kind: 'exchange', call: kind, ...facts }),
    end: ({ report, isPaid, program, refused, cassette }) =>
      say({
        kind: 'end',
        ...report,
        isPaid,
        refused,
        cassette,
        exitCode: program?.exitCode ?? null,
        signal: program?.signal ?? null,
      }),
  }
}

/**
 * Prints to standard error, because standard output belongs to the program. Without a program, standard output contains only the
 * variables, so that a shell can read them.
 */
export function textOutput({ stdout, stderr }: CliContext): SessionOutput {
  const paint = createColors(stderr.color)
  const say = (line: string): void => stderr.write(`${line}\n`)
  return {
    ready: (endpoint, hasProgram) => {
      if (hasProgram) {
        say(paint.dim(`The boundary listens at ${new URL(endpoint.url).origin}; the program uses it.`))
        return
      }
      say(`The boundary listens at ${endpoint.url} until Ctrl-C. Point a program at it with:`)
      for (const [name, value] of Object.entries(endpointVariables(endpoint)))
        stdout.write(`export ${name}=${value}\n`)
    },
    exchange: (facts) => {
      const line = exchangeLine(facts)
      say(facts.status < 400 ? paint.dim(line) : paint.yellow(line))
    },
    end: ({ report, isPaid, program, refused, cassette }) => {
      const { exchanges, usage, problem } = report
      if (problem !== null) say(`\n${plainText(problem)}\n`)
      say(`${counted(exchanges, 'exchange')}.`)
      for (const { model, calls, tokens, costUsd } of usage) {
        const cost = costUsd === null ? 'unmetered: its price is not known' : priceOf(costUsd, isPaid)
        say(
          `  ${plainLine(model)}: ${counted(calls, 'call')}, ${formatCount(inputOf(tokens))} tokens in, ${formatCount(tokens.output)} out, ${cost}`,
        )
      }
      if (refused > 0) say(paint.yellow(`The cap was reached: ${counted(refused, 'call')} refused.`))
      if (cassette !== null)
        say(
          cassette.isKept
            ? `The recording is in ${cassette.dir}`
            : `The recording was discarded; ${cassette.dir} is unchanged.`,
        )
      if (program !== null && program.exitCode !== 0)
        say(
          `The program ended with ${program.exitCode === null ? program.signal : `exit code ${program.exitCode}`}.`,
        )
    },
  }
}

function priceOf(costUsd: number, isPaid: boolean): string {
  return isPaid ? formatCost(costUsd) : `${formatCost(costUsd)} not charged`
}

function exchangeLine(facts: ExchangeFacts): string {
  const { index, api, model, kind, status, tokens, costUsd, durationMs, by, fault } = facts
  const parts = [
    `#${index + 1} ${api} ${plainLine(model)} ${kind}: ${status} by ${by}`,
    ...(fault === undefined ? [] : [`fault ${fault}`]),
    ...(tokens === null
      ? []
      : [
          `${formatCount(inputOf(tokens))} in ${formatCount(tokens.output)} out`,
          costUsd === null ? 'unmetered' : formatCost(costUsd),
        ]),
    `${Math.round(durationMs)} ms`,
  ]
  return parts.join(', ')
}

function inputOf(tokens: NonNullable<ExchangeFacts['tokens']>): number {
  return tokens.input + tokens.cacheRead + tokens.cacheWrite
}
