import type { AgentSession, SessionRequest } from '../contract.ts'
import { unstartedSession } from '../process/unstarted-session.ts'
import type { CliInstance } from './cli-instance.ts'
import type { CliAgent, CliConfig, LiveAgent } from './contract.ts'
import { cliPlace, prepareStart } from './prepare-start.ts'

/** Starts the program once for all prompts of a session. */
export async function openCliSession<Config extends CliConfig>(
  definition: CliAgent<Config>,
  live: LiveAgent<Config>,
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
