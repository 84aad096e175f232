// Drivers of coding agents. One folder per agent contains everything specific to it: its keys in gantry.yaml (schema.ts), how to start it
// (launch.ts), how to read its output (stream.ts), its hooks (hooks.ts, hook-config.ts). Shared code is next to the folders.
import { z } from 'zod'
import { GantryError } from '../core/error.ts'
import type { AgentKind } from './agent-kind.ts'
import { builtinKind } from './builtin/builtin.ts'
import { claudeCodeKind } from './claude-code/claude-code.ts'
import { claudeSdkKind } from './claude-sdk/claude-sdk.ts'
import { codexKind } from './codex/codex.ts'
import { commandKind } from './command/command.ts'
import type { AgentDriver, ModelOpener } from './contract.ts'
import { copilotKind } from './copilot/copilot.ts'
import { geminiKind } from './gemini/gemini.ts'
import { moduleKind } from './module/module.ts'
import { opencodeKind } from './opencode/opencode.ts'
import { scriptedKind } from './scripted/scripted.ts'

/** To add an agent, create a folder and list it here; one with hooks also needs an entry in `hook-codecs.ts`. */
const kinds = [
  claudeCodeKind,
  claudeSdkKind,
  codexKind,
  copilotKind,
  geminiKind,
  opencodeKind,
  builtinKind,
  commandKind,
  moduleKind,
  scriptedKind,
] as const

const [first, ...rest] = kinds

export const agentSchema = z.discriminatedUnion('driver', [first.schema, ...rest.map(({ schema }) => schema)])

export type AgentConfig = z.output<typeof agentSchema>

export interface AgentPlace {
  /** Absolute: the directory of the configuration file, the base of relative paths in it. */
  readonly base: string
  /** For agents that run in process. Without it they have no access to a model. */
  readonly openModel?: ModelOpener
}

/** Agents of the drivers that need no configuration: `--agent` accepts their names. */
export function bareAgents(): Readonly<Record<string, AgentConfig>> {
  return Object.fromEntries(
    kinds.flatMap(({ schema }) => {
      const [driver] = schema.shape.driver.values
      const bare = agentSchema.safeParse({ driver })
      return bare.success ? [[driver, bare.data]] : []
    }),
  )
}

/** The driver for an agent of the configuration. `name` is the name that the user gave it. */
export function createAgent(name: string, config: AgentConfig, place: AgentPlace): AgentDriver {
  const { base, openModel = noModels } = place
  const kind: AgentKind | undefined = kindOf(config.driver)
  if (kind === undefined) throw new Error(`there is no driver ${config.driver}`)
  return kind.create({ name, config, base, openModel })
}

export function hooksOfDriver(driver: string): AgentKind['hooks'] {
  return kindOf(driver)?.hooks ?? null
}

/** Whether the agent runs hooks that no person has reviewed. Only some agents ask for a review. */
export function trustsHooks(config: AgentConfig | undefined): boolean {
  return config === undefined || !('trust_hooks' in config) || config.trust_hooks
}

function kindOf(driver: string): AgentKind | undefined {
  return kinds.find(({ schema }) => schema.shape.driver.values.has(driver as never))
}

const noModels: ModelOpener = async () => {
  throw new GantryError('NOT_FOUND', 'cannot proceed without model access', {
    hint: 'Pass `openModel` when you create the agent.',
  })
}
