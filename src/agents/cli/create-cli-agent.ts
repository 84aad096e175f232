import type { AgentEnding } from '../../core/event.ts'
import { parseObject } from '../../core/json-fields.ts'
import type { AgentDriver, AgentOutcome, AgentRequest, AgentSession, SessionRequest } from '../contract.ts'
import { notStarted, unstartedSession } from '../process/not-started.ts'
import { createLineReader } from '../process/output-reader.ts'
import { playProcess } from '../process/play-process.ts'
import type { CliAgent, CliConfig, CliInstance, LiveMode } from './contract.ts'
import { cliPlace, prepareStart } from './prepare-start.ts'
import { probeCli } from './probe.ts'

/** A driver for an agent that is a command-line program with a structured output. */
export function createCliAgent<Config extends CliConfig>(
  definition: CliAgent<Config>,
  instance: CliInstance<Config>,
): AgentDriver {
  const { driver, credentials, reportsCost, live } = definition
  return {
    name: driver,
    modelAccess: { credentials, reportsCost },
    probe: (context) => probeCli(definition, instance, context),
    run: (request) => runCli(definition, instance, request),
    ...(live && { openSession: (request) => openCliSession(definition, live, instance, request) }),
  }
}

/** Runs the program once, whatever happens: a second try would be a second trial. */
async function runCli<Config extends CliConfig>(
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

/** An agent whose answer we have did its work, even if later output, such as its cost, is lost. */
function withProblem(outcome: AgentOutcome, problem: string | null, driver: string): AgentOutcome {
  if (problem === null || outcome.failure !== null || outcome.invalid !== undefined) return outcome
  if (outcome.finalText !== null)
    return { ...outcome, warnings: [...(outcome.warnings ?? []), `${driver}: ${problem}`] }
  return { ...outcome, failure: { reason: 'malformed', message: `${driver}: ${problem}` } }
}

/** Listens along to what an agent prints. */
interface HeardWords {
  readonly emit: AgentRequest['emit']
  /** Why what was heard cannot be the whole work of the agent, which ended like this; null when it can. */
  problem(ending: AgentEnding): string | null
}

/**
 * A program that ended by itself and printed nothing the agent prints was not the agent at work. One that broke off in the
 * middle of a line has lost the rest: some exit before what they wrote has left them.
 */
export function hearWords(emit: AgentRequest['emit']): HeardWords {
  let saidAnything = false
  let lastLine: string | null = null
  return {
    emit(event) {
      if (event.event !== 'output') {
        saidAnything ||= event.event !== 'raw'
        lastLine = event.event === 'raw' ? event.line : null
      }
      emit(event)
    },
    problem(ending) {
      if (ending !== 'exited' && ending !== 'crashed') return null
      if (!saidAnything) return 'the program printed nothing that this agent prints'
      const isCut = lastLine?.startsWith('{') === true && parseObject(lastLine) === null
      return ending === 'exited' && isCut ? 'its output breaks off in the middle of a line' : null
    },
  }
}

/** Starts the program once for all prompts of a session. */
async function openCliSession<Config extends CliConfig>(
  definition: CliAgent<Config>,
  live: LiveMode<Config>,
  instance: CliInstance<Config>,
  request: SessionRequest,
): Promise<AgentSession> {
  const launch = live.launch(instance.config, request, cliPlace(definition, instance))
  const prepared = prepareStart(definition, instance, launch, request)
  if (prepared.kind === 'ready') return live.open(prepared.start, request)
  const [command, ...args] = prepared.argv
  request.emit({ event: 'spawn', command, args })
  return unstartedSession(instance.name, request, prepared.problem)
}
