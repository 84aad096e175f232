import { providerVariables } from '../../models/boundary/contract.ts'
import type { AgentDriver } from '../contract.ts'
import type { CommandAgent } from './command-agent.ts'
import { probeCommand } from './probe.ts'
import { runCommand } from './run.ts'
import { createTerminalSearch } from './terminal-search.ts'

/** A driver for any command-line program. */
export function createCommandAgent(agent: CommandAgent): AgentDriver {
  const findTerminal = createTerminalSearch()
  return {
    name: 'command',
    modelAccess: { credentials: givenVariables(agent.config), reportsCost: true },
    probe: (context) => probeCommand(agent, context),
    run: (request) => runCommand(agent, findTerminal, request),
  }
}

/** Only what the configuration hands over: an unknown program is not given keys because we hold some. */
function givenVariables({ env, inherit_env }: CommandAgent['config']): readonly string[] {
  return providerVariables.filter((name) => inherit_env.includes(name) || Object.hasOwn(env, name))
}
