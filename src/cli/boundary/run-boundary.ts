import { once } from 'node:events'
import { resolve } from 'node:path'
import { createColors } from 'picocolors'
import { loadProject } from '../../config/load.ts'
import { counted, formatCount } from '../../core/counted.ts'
import { GantryError } from '../../core/error.ts'
import { type ExitCode, exitCode } from '../../core/exit-code.ts'
import { definedVariables } from '../../core/expand.ts'
import { createRedaction } from '../../core/redaction.ts'
import { homeDirectory, temporaryRoot } from '../../io/host.ts'
import { type AttachedEnd, runAttached } from '../../io/run-attached.ts'
import {
  type ExchangeFacts,
  endpointVariables,
  type ModelEndpoint,
  providerVariables,
  type SessionReport,
} from '../../models/boundary/contract.ts'
import { type FaultsConfig, parseFault } from '../../models/boundary/faults.ts'
import { isOffline, type ModelLink, type ModelSource } from '../../models/boundary/model-link.ts'
import { openBoundary } from '../../models/boundary/open-boundary.ts'
import { type LinkSession, openModelLink } from '../../models/boundary/open-model-link.ts'
import { readBoundaryScript } from '../../models/boundary/script/schema.ts'
import { hasKey, upstreamFrom } from '../../models/boundary/upstream.ts'
import { plainLine, plainText } from '../../report/plain-text.ts'
import { formatCost } from '../../report/quantity.ts'
import type { CliContext } from '../context.ts'

export interface BoundaryWork {
  /** Empty: serve until Ctrl-C. */
  readonly command: readonly string[]
  readonly flags: BoundaryFlags
  /** Without one, the providers answer. */
  readonly script: string | undefined
  readonly replay: ModelLink['replay']
  /** Absolute. */
  readonly cassette: string
}

export async function runBoundary(work: BoundaryWork, context: CliContext): Promise<void> {
  const { flags, script, replay } = work
  const model: ModelLink = { source: sourceOf(script, context), replay }
  const project = loadProject(context.cwd, flags.config)
  const faults = faultsOf(flags, model.source)
  const boundary = await openBoundary({ ...(flags.port !== undefined && { port: flags.port }) })
  try {
    const voice = flags.json === true ? jsonOutput(context) : textOutput(context)
    let refused = 0
    let recorded = 0
    const session = openModelLink(boundary, model, {
      places: { workspace: context.cwd, home: homeDirectory(context.env), tmp: temporaryRoot(context.env) },
      cassette: work.cassette,
      redact: createRedaction(project.config.redact, context.env).text,
      facts: { command: work.command.join(' ') },
      prices: project.config.models,
      onExchange: (facts) => {
        if (facts.by === 'refused') refused += 1
        if (facts.by === 'record') recorded += 1
        voice.exchange(facts)
      },
      ...(flags.maxCostUsd !== undefined && { maxCostUsd: flags.maxCostUsd }),
      ...(faults !== undefined && { faults }),
    })
    warnWithoutKey(model, context)
    voice.ready(session.endpoint, work.command.length > 0)
    const program = await until(work, session, context).catch(async (error: unknown) => {
      await session.finish({ keep: false })
      throw error
    })
    // An interrupted recording must not replace an existing one.
    const keep = model.replay !== 'record' || (recorded > 0 && program?.exitCode !== null)
    const report = await session.finish({ keep })
    const end: BoundaryEnd = {
      report,
      isPaid: model.source.kind === 'provider' && model.replay !== 'strict',
      program,
      refused: report.problem === null ? refused : 0,
      cassette:
        model.replay === 'record' ? { dir: work.cassette, isKept: keep && report.problem === null } : null,
    }
    voice.end(end)
    context.setExitCode(codeOf(end, context.signal.aborted))
  } finally {
    await boundary.close()
  }
}

/** Resolves when the program has ended, on Ctrl-C, or when a call had no answer. */
async function until(
  { command, flags }: BoundaryWork,
  session: LinkSession,
  { cwd, env, signal }: CliContext,
): Promise<AttachedEnd | null> {
  const [program, ...args] = command
  const stop = AbortSignal.any([signal, mismatchOf(session)])
  if (program === undefined) {
    if (!stop.aborted) await once(stop, 'abort')
    return null
  }
  return runAttached({
    argv: [program, ...args],
    cwd,
    env: { ...withoutKeys(env), ...endpointVariables(session.endpoint) },
    output: flags.json === true ? 'stderr' : 'stdout',
    signal: stop,
  })
}

/** Reaching the cap does not end the program: later calls are refused. */
function mismatchOf({ stopped }: LinkSession): AbortSignal {
  const mismatch = new AbortController()
  stopped.addEventListener('abort', () => {
    if (stopped.reason === 'mismatch') mismatch.abort()
  })
  return mismatch.signal
}

function codeOf({ report, program, refused }: BoundaryEnd, isInterrupted: boolean): ExitCode {
  // What the program asked while it ended may have no answer.
  if (program !== null && (isInterrupted || program.exitCode === exitCode.interrupted))
    return exitCode.interrupted
  if (report.problem !== null) return exitCode.failed
  if (refused > 0) return exitCode.failed
  return program === null || program.exitCode === 0 ? exitCode.pass : exitCode.failed
}

function warnWithoutKey(modelLink: ModelLink, { stderr }: CliContext): void {
  const { source } = modelLink
  if (isOffline(modelLink) || source.kind !== 'provider' || hasKey(source.upstream)) return
  stderr.write(
    'No key of a provider is in the environment: calls are forwarded with the key that the program itself sends.\n',
  )
}

/** The program gets no provider key, so it cannot leak one. */
function withoutKeys(env: CliContext['env']): Record<string, string> {
  const kept = Object.entries(definedVariables(env)).filter(([name]) => !providerVariables.includes(name))
  return Object.fromEntries(kept)
}

/** The faults of the flags, else those of the script; a seed flag overrides the script's. */
function faultsOf({ fault, seed }: BoundaryFlags, source: ModelSource): FaultsConfig | undefined {
  if (fault !== undefined) return { faults: fault.map(parseFault), seed: seed ?? 0 }
  const scripted = source.kind === 'script' ? source.script.faults : undefined
  if (seed === undefined) return scripted
  if (scripted === undefined)
    throw new GantryError('USAGE', '--seed has no effect without a fault', {
      hint: 'Give a --fault with a probability too, such as 529%20.',
    })
  return { ...scripted, seed }
}

/** The script if there is one, else the providers that the caller's variables point to. */
function sourceOf(script: string | undefined, { cwd, env }: CliContext): ModelSource {
  if (script !== undefined) return { kind: 'script', script: readBoundaryScript(resolve(cwd, script)) }
  return { kind: 'provider', upstream: upstreamFrom(env) }
}

export interface BoundaryFlags {
  readonly port?: number
  readonly fault?: string[]
  readonly seed?: number
  readonly maxCostUsd?: number
  readonly config?: string
  readonly json?: boolean
}

interface SessionOutput {
  /** `hasProgram`: a program is started and gets the address. Without one, the address is printed. */
  ready(endpoint: ModelEndpoint, hasProgram: boolean): void
  exchange(facts: ExchangeFacts): void
  end(end: BoundaryEnd): void
}

interface BoundaryEnd {
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
function jsonOutput({ stdout }: CliContext): SessionOutput {
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
function textOutput({ stdout, stderr }: CliContext): SessionOutput {
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
