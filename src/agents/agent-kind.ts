import type { z } from 'zod'
import type { AgentDriver, ModelOpener } from './contract.ts'
import type { HookedAgent } from './hook-codecs.ts'

/** One kind of agent: what its folder gives to the registry in `index.ts`. */
export interface AgentKind<Config extends { readonly driver: string } = { readonly driver: string }> {
  /** Its keys in gantry.yaml, with `driver` as discriminator. */
  readonly schema: z.ZodType<Config>
  /**
   * How the guard's hooks reach it: as calls in our own process, as those of an agent with a hook codec, or not at all.
   */
  readonly hooks: HookedAgent | 'in_process' | null
  create(agent: AgentInstance<Config>): AgentDriver
}

/** One agent of the configuration. */
export interface AgentInstance<Config> {
  /** The name the user gave it. */
  readonly name: string
  readonly config: Config
  /** Absolute: where relative paths of the configuration start. */
  readonly base: string
  readonly openModel: ModelOpener
}

/** Keeps the exact type of the schema, from which `agentSchema` is built. */
export function agentKind<Schema extends z.ZodObject>(kind: {
  readonly schema: Schema
  readonly hooks: AgentKind['hooks']
  create(agent: AgentInstance<z.output<Schema>>): AgentDriver
}): typeof kind {
  return kind
}
