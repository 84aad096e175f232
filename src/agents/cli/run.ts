import { join } from 'node:path'
import { cacheDirectory } from '../../io/cache-directory.ts'
import { isRoot } from '../../io/is-root.ts'
import type { AgentOutcome, AgentRequest } from '../contract.ts'
import { notStarted } from '../process/not-started.ts'
import { createLineReader } from '../process/output-reader.ts'
import { playProcess } from '../process/play-process.ts'
import type { CliInstance } from './cli-instance.ts'
import type { CliAgent, CliConfig } from './contract.ts'
import { writeLaunchFiles } from './files.ts'
import { hearWords } from './hear-words.ts'
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
  const fileProblem = request.signal.aborted ? null : writeLaunchFiles(launch.files ?? [], request.workspace)
  if (fileProblem !== null) return notStarted(name, request, fileProblem)
  const words = hearWords(request.emit)
  const outcome = await playProcess(
    {
      name,
      argv: [program, ...args],
      env: { ...withoutCredentials(definition, request), ...launch.env },
      stdin: launch.stdin,
      createReader: (onProgress) => createLineReader(definition.createParser(), words.emit, onProgress),
      warnings: launch.warnings ?? [],
      ...(definition.losesOutput === true && { throughFile: true }),
    },
    request,
  )
  return withProblem(outcome, words.problem(outcome.ending), definition.driver)
}

/** An agent whose answer we have did its work, though what it told afterwards, such as its cost, is lost. */
function withProblem(outcome: AgentOutcome, problem: string | null, driver: string): AgentOutcome {
  if (problem === null || outcome.failure !== null || outcome.invalid !== undefined) return outcome
  if (outcome.finalText !== null)
    return { ...outcome, warnings: [...(outcome.warnings ?? []), `${driver}: ${problem}`] }
  return { ...outcome, failure: { reason: 'malformed', message: `${driver}: ${problem}` } }
}

/** An agent whose model is behind the boundary must have no other way to it, whatever the caller's variables say. */
function withoutCredentials<Config extends CliConfig>(
  { credentials }: CliAgent<Config>,
  { env, endpoint }: AgentRequest,
): Readonly<Record<string, string>> {
  if (endpoint === undefined) return env
  return Object.fromEntries(Object.entries(env).filter(([variable]) => !credentials.includes(variable)))
}
