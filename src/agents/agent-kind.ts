import type { z } from 'zod'
import type { AgentDriver, AgentInstance, ModelOpener } from './contract.ts'
import type { HookedAgent } from './hook-codecs.ts'

/** One kind of agent: what its folder registers in `index.ts`. */
export interface AgentKind<Config extends { readonly driver: string } = { readonly driver: string }> {
  /** Its keys in gantry.yaml, with `driver` as discriminator. */
  readonly schema: z.ZodType<Config>
  /** How the guard's hooks reach it: as calls in this process, through a hook codec, or not at all. */
  readonly hooks: HookedAgent | 'in_process' | null
  create(agent: AgentInstance<Config> & { readonly openModel: ModelOpener }): AgentDriver
}

/** Keeps the exact type of the schema, from which `agentSchema` is built. */
export function agentKind<Schema extends z.ZodObject<{ driver: z.ZodLiteral<string> }>>(kind: {
  readonly schema: Schema
  readonly hooks: AgentKind['hooks']
  create: AgentKind<z.output<Schema>>['create']
}): typeof kind {
  return kind
}
