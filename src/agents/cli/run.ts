import { join } from 'node:path'
import type { AgentEvent } from '../../core/event.ts'
import { cacheDirectory } from '../../io/cache-directory.ts'
import { isRoot } from '../../io/is-root.ts'
import type { AgentOutcome, AgentRequest } from '../contract.ts'
import { notStarted } from '../process/not-started.ts'
import { createLineReader } from '../process/output-reader.ts'
import { playProcess } from '../process/play-process.ts'
import type { CliInstance } from './cli-instance.ts'
import type { CliAgent, CliConfig } from './contract.ts'
import { writeLaunchFiles } from './files.ts'
import { locate } from './locate.ts'

/** Runs the program once, whatever happens: a second try would be a second trial. */
export async function runCli<Config extends CliConfig>(
  definition: CliAgent<Config>,
  instance: CliInstance<Config>,
  request: AgentRequest,
): Promise<AgentOutcome> {
  const { name, config, base } = instance
  const launch = definition.launch(config, request, {
    base,
    isRoot: isRoot(),
    cache: join(cacheDirectory(), definition.driver),
  })
  const located = locate(definition, instance, request.env)
  const program = located.kind === 'found' ? located.path : (config.binary ?? definition.program)
  const args = [...launch.args, ...config.args]
  request.emit({ event: 'spawn', command: program, args })
  if (located.kind === 'missing') return notStarted(name, request, located.problem)
  if (args.some((word) => word.includes('\0')))
    return notStarted(name, request, 'a command line cannot hold a NUL character, and its settings have one.')
  const problem = request.signal.aborted ? null : writeLaunchFiles(launch.files ?? [], request.workspace)
  if (problem !== null) return notStarted(name, request, problem)
  let saidAnything = false
  const emit: AgentRequest['emit'] = (event) => {
    saidAnything ||= !meaningless.has(event.event)
    request.emit(event)
  }
  const outcome = await playProcess(
    {
      name,
      argv: [program, ...args],
      env: { ...withoutCredentials(definition, request), ...launch.env },
      stdin: launch.stdin,
      createReader: (onProgress) => createLineReader(definition.createParser(), emit, onProgress),
      warnings: launch.warnings ?? [],
    },
    request,
  )
  return saidAnything ? outcome : withoutWords(definition, outcome)
}

/** What also a program that is no agent makes us see. */
const meaningless: ReadonlySet<AgentEvent['event']> = new Set(['raw', 'output'])

/** It ended by itself and nothing of what it printed was the agent's: whatever ran, it was not the agent at work. */
function withoutWords<Config extends CliConfig>(
  { driver }: CliAgent<Config>,
  outcome: AgentOutcome,
): AgentOutcome {
  const endedAlone = outcome.ending === 'exited' || outcome.ending === 'crashed'
  if (!endedAlone || outcome.failure !== null || outcome.invalid !== undefined) return outcome
  const how = outcome.ending === 'crashed' ? 'it crashed' : `exit code ${outcome.exitCode}`
  const message = `the program printed nothing that ${driver} prints (${how})`
  return { ...outcome, failure: { reason: 'malformed', message } }
}

/** An agent whose model is behind the boundary must have no other way to it, whatever the caller's variables say. */
function withoutCredentials<Config extends CliConfig>(
  { credentials }: CliAgent<Config>,
  { env, endpoint }: AgentRequest,
): Readonly<Record<string, string>> {
  if (endpoint === undefined) return env
  return Object.fromEntries(Object.entries(env).filter(([variable]) => !credentials.includes(variable)))
}
