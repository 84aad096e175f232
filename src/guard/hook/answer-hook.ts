import type { HookCaller, HookReply } from '../../agents/hook-codec.ts'
import { detectCaller } from '../../agents/hook-codecs.ts'
import { GantryError } from '../../core/error.ts'
import type { HookKind } from '../../core/hook-event.ts'
import { findRoot, guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { openGuard } from '../../guard-engine/open-guard.ts'
import { rules } from '../../rules/index.ts'
import { codecOf, isHookedAgent } from './codec-of.ts'
import type { HookProgram, HookRequest } from './hook-request.ts'
import { readPayload } from './read-payload.ts'
import { whyFailed } from './why-failed.ts'

export interface HookAnswer {
  readonly reply: HookReply
  /** null when the payload could not be understood. */
  readonly kind: HookKind | null
}

const silent: HookReply = { stdout: '', stderr: '', exitCode: 0 }

/** One payload in, the agent's own kind of answer out. Never throws: whatever goes wrong blocks where blocking is possible. */
export async function answerHook(request: HookRequest, program: HookProgram): Promise<HookAnswer> {
  const { agent, event: name, agentVersion, env, eventId } = request
  const caller: HookCaller = { event: name, env, version: agentVersion }
  let codec = codecOf(agent)
  let payload: unknown
  let kind: HookKind | null = null
  try {
    payload = readPayload(request.payload)
    const who = isHookedAgent(agent) ? detectCaller(agent, payload, env) : null
    codec = who?.codec ?? codec
    const event = codec.decode(payload, caller)
    kind = event.kind
    if (kind === 'other' && codec.events.some((registered) => registered.event === name)) {
      // A hook is not to be talked out of its event by a payload that names one nobody knows.
      payload = undefined
      throw new GantryError('INVALID_FILE', `the payload is not one of ${name}`)
    }
    if (who?.kind === 'borrowed') {
      const { hasOwnHook } = await import('./has-own-hook.ts')
      const root = findRoot(event.root)
      if (hasOwnHook({ agent: who.agent, codec, root, env, program })) return { reply: silent, kind }
    }
    const guard = openGuard({ rules, guardHome: guardHome(env), env, ...program })
    return { reply: codec.encode(event, await guard.handle(event, { eventId }), caller), kind }
  } catch (error) {
    return { reply: codec.fail(payload, caller, whyFailed(error)), kind }
  }
}
