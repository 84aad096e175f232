import { once } from 'node:events'
import { resolve } from 'node:path'
import { loadProject } from '../../config/load.ts'
import { GantryError } from '../../core/error.ts'
import { type ExitCode, exitCode } from '../../core/exit-code.ts'
import { definedVariables } from '../../core/expand.ts'
import { createRedaction } from '../../core/redaction.ts'
import { homeDirectory, temporaryRoot } from '../../io/host.ts'
import { type AttachedEnd, runAttached } from '../../io/run-attached.ts'
import { endpointVariables, providerVariables } from '../../models/boundary/contract.ts'
import { type FaultsConfig, parseFault } from '../../models/boundary/faults.ts'
import { isOffline, type ModelLink, type ModelSource } from '../../models/boundary/model-link.ts'
import { openBoundary } from '../../models/boundary/open-boundary.ts'
import { type LinkSession, openModelLink } from '../../models/boundary/open-model-link.ts'
import { readBoundaryScript } from '../../models/boundary/script/schema.ts'
import { hasKey, upstreamFrom } from '../../models/boundary/upstream.ts'
import type { CliContext } from '../context.ts'
import { type BoundaryEnd, jsonOutput, textOutput } from './session-output.ts'

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
  if (program !== null && isInterrupted) return exitCode.interrupted
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
