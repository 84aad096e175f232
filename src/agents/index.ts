import { z } from 'zod'
import { createCommandAgent } from './command/create-command-agent.ts'
import { commandAgentSchema } from './command/schema.ts'
import type { AgentDriver } from './contract.ts'
import { createScriptedAgent } from './scripted/create-scripted-agent.ts'
import { scriptedAgentSchema } from './scripted/schema.ts'

/** One entry of `agents:` in gantry.yaml. A new agent is a folder, its schema here, and its case below. */
export const agentSchema = z.discriminatedUnion('driver', [commandAgentSchema, scriptedAgentSchema])

export type AgentConfig = z.output<typeof agentSchema>

export interface AgentPlace {
  /** Absolute: the directory of the configuration file, which relative paths in it start from. */
  readonly base: string
}

/** The driver for an agent of the configuration. `name` is the user's own word for it. */
export function createAgent(name: string, config: AgentConfig, { base }: AgentPlace): AgentDriver {
  switch (config.driver) {
    case 'command':
      return createCommandAgent({ name, config, base })
    case 'scripted':
      return createScriptedAgent({ name, config, base })
  }
}
