import { z } from 'zod'
import type { HookReply } from '../agents/hook-codec.ts'
import type { HookedAgent } from '../agents/hook-codecs.ts'
import { installableAgents } from '../agents/hook-installers.ts'
import { version } from '../core/version.ts'
import { answerHook } from '../guard/hook/answer-hook.ts'
import { checkOptions, optionFields } from '../io/check-options.ts'
import { quickId } from '../io/quick-random.ts'

const requestSchema = z.strictObject({
  agent: z.enum(installableAgents as [HookedAgent, ...HookedAgent[]]),
  /** What the agent writes to the standard input of a hook, as an object or as text. */
  payload: z.union([z.string(), z.record(z.string(), z.unknown())]),
  /** The name of the event, for agents whose payload does not contain it. */
  event: z.string().optional(),
  /** Default: that of this process. `GANTRY_GUARD_HOME` names the directory of the ledger. */
  env: optionFields.env,
})

export type HookDecisionRequest = Readonly<z.output<typeof requestSchema>>

/**
 * Decides on one hook event, as `gantry guard hook` does: the same rules, settings and ledger. An error of the guard blocks where the
 * agent can be blocked; only a wrong argument throws.
 */
export async function decideHook(call: HookDecisionRequest): Promise<HookReply> {
  checkOptions('decideHook', requestSchema, call)
  const { agent, payload, event = null, env = process.env } = call
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const { reply } = await answerHook(
    {
      agent,
      event,
      agentVersion: null,
      env,
      payload: new TextEncoder().encode(text),
      eventId: `e_${quickId(16)}`,
    },
    { node: process.execPath, hookBin: null, edition: version },
  )
  return reply
}
