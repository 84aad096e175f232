import { isAbsolute, join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import type { AgentEnding, AgentEvent, Untimed } from '../../core/event.ts'
import { parseObject } from '../../core/json-fields.ts'
import { writeFileAtomic } from '../../io/files.ts'
import { cacheDirectory } from '../../io/host.ts'
import { isRoot } from '../../io/is-root.ts'
import { pathBelow } from '../../io/path-below.ts'
import type { AgentDriver, AgentInstance, AgentOutcome, AgentRequest, SessionRequest } from '../contract.ts'
import { notStarted, unstartedSession } from '../process/not-started.ts'
import { createLineReader } from '../process/output-reader.ts'
import { playProcess } from '../process/play-process.ts'
import type { CliAgent, CliConfig, CliLaunch, CliPlace, CliStart } from './contract.ts'
import { locateProgram, probeCli } from './probe.ts'

export function createCliAgent<Config extends CliConfig>(
  definition: CliAgent<Config>,
  instance: AgentInstance<Config>,
): AgentDriver {
  const { driver, program, install, credentials, reportsCost, live } = definition
  const { name, config, base } = instance
  /** A sandbox has no directory that trials share. */
  const place = ({ sandbox, env: { HOME = '' } }: SessionRequest): CliPlace => ({
    ...{ base, isRoot: isRoot(), cache: join(sandbox === undefined ? cacheDirectory() : HOME, driver) },
  })

  /** Finds the program and writes the files that it needs at its start. Nothing is started. */
  const prepare = (
    launch: CliLaunch,
    { env, endpoint, signal, workspace }: SessionRequest,
  ): PreparedStart => {
    const wanted = config.binary ?? program
    const located = locateProgram({ wanted, base, install }, env)
    const argv: CliStart['argv'] = [located.path ?? wanted, ...launch.args, ...config.args]
    const refused = (problem: string): PreparedStart => ({ kind: 'refused', argv, problem })
    if (located.problem !== null) return refused(located.problem)
    if (argv.some((word) => word.includes('\0')))
      return refused('a command line cannot contain a NUL character, and its settings have one.')
    const fileProblem = signal.aborted ? null : writeLaunchFiles(launch.files ?? [], workspace)
    if (fileProblem !== null) return refused(fileProblem)
    // An agent behind the boundary must have no other access to a model, whatever the caller's variables are.
    const given = Object.entries(env).filter(([key]) => endpoint === undefined || !credentials.includes(key))
    const start = { name, argv, env: { ...Object.fromEntries(given), ...launch.env } }
    return { kind: 'ready', start: { ...start, warnings: launch.warnings ?? [] } }
  }

  return {
    name: driver,
    modelAccess: { credentials, reportsCost },
    probe: (context) => probeCli(definition, instance, context),
    /** Runs the program exactly once: a retry would be a second trial. */
    async run(request) {
      const launch = definition.launch(config, request, place(request))
      const prepared = prepare(launch, request)
      const [command, ...args] = prepared.kind === 'ready' ? prepared.start.argv : prepared.argv
      request.emit({ event: 'spawn', command, args })
      if (prepared.kind === 'refused') return notStarted(name, request, prepared.problem)
      const words = watchOutput(request.emit)
      const outcome = await playProcess(
        {
          ...prepared.start,
          stdin: launch.stdin,
          createReader: (onProgress) => createLineReader(definition.createParser(), words.emit, onProgress),
          ...(definition.losesOutput === true && { throughFile: true }),
        },
        request,
      )
      return withProblem(outcome, words.problem(outcome.ending), driver)
    },
    ...(live && {
      async openSession(request) {
        const prepared = prepare(live.launch(config, request, place(request)), request)
        if (prepared.kind === 'ready') return live.open(prepared.start, request)
        const [command, ...args] = prepared.argv
        request.emit({ event: 'spawn', command, args })
        return unstartedSession(name, request, prepared.problem)
      },
    }),
  }
}

type PreparedStart =
  | { readonly kind: 'ready'; readonly start: CliStart }
  | { readonly kind: 'refused'; readonly argv: CliStart['argv']; readonly problem: string }

/** An agent with an answer did its work, even if later output, such as its cost, is lost. */
function withProblem(outcome: AgentOutcome, problem: string | null, driver: string): AgentOutcome {
  if (problem === null || outcome.failure !== null || outcome.invalid !== undefined) return outcome
  if (outcome.finalText !== null)
    return { ...outcome, warnings: [...(outcome.warnings ?? []), `${driver}: ${problem}`] }
  return { ...outcome, failure: { reason: 'malformed', message: `${driver}: ${problem}` } }
}

/**
 * A program that exited by itself without any known output was not the agent at work. One that stopped in the middle of
 * a line has lost the rest: some programs exit before their output is written.
 */
export function watchOutput(emit: AgentRequest['emit']) {
  let hasKnownOutput = false
  let lastLine: string | null = null
  return {
    emit(event: Untimed<AgentEvent>): void {
      if (event.event !== 'output') {
        hasKnownOutput ||= event.event !== 'raw'
        lastLine = event.event === 'raw' ? event.line : null
      }
      emit(event)
    },
    /** Why the output cannot be the complete work of an agent with this ending; null when it can. */
    problem(ending: AgentEnding): string | null {
      if (ending !== 'exited' && ending !== 'crashed') return null
      if (!hasKnownOutput) return 'the program printed nothing that this agent prints'
      const isCut = lastLine?.startsWith('{') === true && parseObject(lastLine) === null
      return ending === 'exited' && isCut ? 'its output breaks off in the middle of a line' : null
    },
  }
}

/** Writes the files that the agent needs at its start; returns null, or the reason for a failure. */
function writeLaunchFiles(files: NonNullable<CliLaunch['files']>, workspace: string): string | null {
  for (const { path, content } of files) {
    // The workspace is evaluated, so it must not contain our files.
    if (!isAbsolute(path) || pathBelow(workspace, path) !== null)
      return `its settings file ${path} would be in the workspace: HOME and TMPDIR must be elsewhere.`
    try {
      writeFileAtomic(path, content)
    } catch (cause) {
      if (cause instanceof GantryError) return `its settings could not be written: ${cause.message}`
      throw cause
    }
  }
  return null
}
