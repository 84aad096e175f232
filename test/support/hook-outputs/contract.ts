import type { HookReply } from '../../../src/agents/hook-codec.ts'

/** What one version of one agent makes of a hook's answer, as it was seen in that agent or stands in its schema. */
export interface HookReader {
  readonly name: string
  /** Why the agent would drop the answer, or any part of it; empty when it takes it whole. */
  problems(event: string, reply: HookReply): readonly string[]
  /** Does it keep the call, the stop, the prompt or the change from happening? */
  blocks(event: string, reply: HookReply): boolean
}
