import { z } from 'zod'
import { GantryError } from '../core/error.ts'
import { createBuiltinAgent } from './builtin/builtin.ts'
import { builtinAgentSchema } from './builtin/schema.ts'
import { claudeCode } from './claude-code/claude-code.ts'
import { claudeCodeSchema } from './claude-code/schema.ts'
import { createClaudeSdkAgent } from './claude-sdk/claude-sdk.ts'
import { claudeSdkSchema } from './claude-sdk/schema.ts'
import { createCliAgent } from './cli/create-cli-agent.ts'
import { codex } from './codex/codex.ts'
import { codexAgentSchema } from './codex/schema.ts'
import { createCommandAgent } from './command/command.ts'
import { commandAgentSchema } from './command/schema.ts'
import type { AgentDriver, ModelOpener } from './contract.ts'
import { copilot } from './copilot/copilot.ts'
import { copilotAgentSchema } from './copilot/schema.ts'
import { gemini } from './gemini/gemini.ts'
import { geminiAgentSchema } from './gemini/schema.ts'
import { opencode } from './opencode/opencode.ts'
import { opencodeAgentSchema } from './opencode/schema.ts'
import { scriptedAgentSchema } from './scripted/schema.ts'
import { createScriptedAgent } from './scripted/scripted.ts'

/** One entry of `agents:` in gantry.yaml. A new agent is a folder, its schema here, and its case below. */
export const agentSchema = z.discriminatedUnion('driver', [
  claudeCodeSchema,
  claudeSdkSchema,
  codexAgentSchema,
  copilotAgentSchema,
  geminiAgentSchema,
  opencodeAgentSchema,
  builtinAgentSchema,
  commandAgentSchema,
  scriptedAgentSchema,
])

export type AgentConfig = z.output<typeof agentSchema>

export interface AgentPlace {
  /** Absolute: the directory of the configuration file, which relative paths in it start from. */
  readonly base: string
  /** For agents that run in process. Without it they have no access to a model. */
  readonly openModel?: ModelOpener
}

/** Drivers that need no configuration: their name is enough for `--agent`. */
const bareDrivers: readonly AgentConfig['driver'][] = [
  'claude-code',
  'claude-sdk',
  'codex',
  'copilot',
  'gemini',
  'opencode',
  'builtin',
]

/** An agent of each such driver, as it is when nothing is said about it. */
export function bareAgents(): Readonly<Record<string, AgentConfig>> {
  return Object.fromEntries(bareDrivers.map((driver) => [driver, agentSchema.parse({ driver })]))
}

/** The driver for an agent of the configuration. `name` is the user's own word for it. */
export function createAgent(name: string, config: AgentConfig, place: AgentPlace): AgentDriver {
  const { base, openModel = noModels } = place
  switch (config.driver) {
    case 'claude-code':
      return createCliAgent(claudeCode, { name, config, base })
    case 'claude-sdk':
      return createClaudeSdkAgent({ name, config, base })
    case 'codex':
      return createCliAgent(codex, { name, config, base })
    case 'copilot':
      return createCliAgent(copilot, { name, config, base })
    case 'gemini':
      return createCliAgent(gemini, { name, config, base })
    case 'opencode':
      return createCliAgent(opencode, { name, config, base })
    case 'builtin':
      return createBuiltinAgent({ name, config, openModel })
    case 'command':
      return createCommandAgent({ name, config, base })
    case 'scripted':
      return createScriptedAgent({ name, config, base })
  }
}

const noModels: ModelOpener = async () => {
  throw new GantryError('NOT_FOUND', 'cannot proceed without model access', {
    hint: 'Whoever makes the agent gives it none.',
  })
}
