import type { HookReply } from '../../../src/agents/hook-codec.ts'

/** How one version of an agent reads a hook's answer, as observed or from its schema. */
export interface HookReader {
  readonly name: string
  /** Why the agent would drop the answer, or any part of it; empty when it takes it whole. */
  problems(event: string, reply: HookReply): readonly string[]
  /** Does it keep the call, the stop, the prompt or the change from happening? */
  blocks(event: string, reply: HookReply): boolean
}
