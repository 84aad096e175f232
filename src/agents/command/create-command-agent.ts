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
    probe: (context) => probeCommand(agent, context),
    run: (request) => runCommand(agent, findTerminal, request),
  }
}
