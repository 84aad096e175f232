import type { AgentOutcome, AgentRequest } from '../contract.ts'
import { notStarted } from '../process/not-started.ts'
import { createLineReader } from '../process/output-reader.ts'
import { playProcess } from '../process/play-process.ts'
import type { CliInstance } from './cli-instance.ts'
import type { CliAgent, CliConfig } from './contract.ts'
import { hearWords } from './hear-words.ts'
import { cliPlace, prepareStart } from './prepare-start.ts'

/** Runs the program once, whatever happens: a second try would be a second trial. */
export async function runCli<Config extends CliConfig>(
  definition: CliAgent<Config>,
  instance: CliInstance<Config>,
  request: AgentRequest,
): Promise<AgentOutcome> {
  const { name, config } = instance
  const launch = definition.launch(config, request, cliPlace(definition, instance))
  const prepared = prepareStart(definition, instance, launch, request)
  const { argv } = prepared.kind === 'ready' ? prepared.start : prepared
  const [command, ...args] = argv
  request.emit({ event: 'spawn', command, args })
  if (prepared.kind === 'refused') return notStarted(name, request, prepared.problem)
  const { env, warnings } = prepared.start
  const words = hearWords(request.emit)
  const outcome = await playProcess(
    {
      name,
      argv,
      env,
      stdin: launch.stdin,
      createReader: (onProgress) => createLineReader(definition.createParser(), words.emit, onProgress),
      warnings,
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
