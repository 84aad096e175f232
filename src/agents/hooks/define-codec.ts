import type { GuardedAgent, HookEvent, HookKind, HookTraits } from '../../core/hook-event.ts'
import { asObject, type JsonObject } from '../../core/json-fields.ts'
import { withRefusalMark } from '../../core/refusal-mark.ts'
import type { HookCaller, HookCapabilities, HookCodec, HookRegistration, HookReply } from '../hook-codec.ts'
import {
  type AnswerChannels,
  blocking,
  type HookMessages,
  hookText,
  messagesOf,
  noMessages,
  silent,
} from './answer.ts'
import { eventNameOf, payloadOf } from './payload.ts'

/** What one agent adds to be a codec. Event names are the agent's own. */
export interface AgentWire {
  readonly agent: GuardedAgent
  readonly capabilities: HookCapabilities
  readonly traits?: HookTraits
  readonly events: readonly HookRegistration[]
  /**
   * Every event it knows, registered or not. One that is missing here is `other`, and is never answered. Of several of one kind
   * the last is taken when the name is not given; one that ends in `Failure` only for what failed.
   */
  readonly known: ReadonlyMap<string, KnownEvent>
  nameIn(payload: JsonObject, caller: HookCaller): string | null
  decode(name: string, payload: JsonObject, caller: HookCaller): HookEvent
  answer(name: string, messages: HookMessages): HookReply
  /** The answer without an opinion, where an empty one is not accepted. */
  readonly noOpinion?: HookReply
  /** The payload says for certain that this stop is not a repeated one. */
  isFirstStop(payload: JsonObject): boolean
}

export interface KnownEvent {
  readonly kind: HookKind
  readonly channels: AnswerChannels
}

export function defineCodec(wire: AgentWire): HookCodec {
  const { agent, capabilities, traits = {}, events, known, noOpinion = silent } = wire
  return {
    agent,
    capabilities,
    traits,
    events,
    decode(payload, caller) {
      const fields = payloadOf(agent, payload)
      return wire.decode(eventNameOf(agent, wire.nameIn(fields, caller)), fields, caller)
    },
    encode(event, decision, caller) {
      const name = answeredName(wire, event, caller)
      const channels = name === null ? undefined : known.get(name)?.channels
      if (name === null || channels === undefined) return noOpinion
      return wire.answer(name, messagesOf(decision, channels))
    },
    fail(payload, caller, why) {
      const fields = asObject(payload) ?? {}
      const name = wire.nameIn(fields, caller)
      const text = `the guard itself failed: ${why}`
      // It is unknown what this would let pass.
      if (name === null)
        return blocking(hookText(withRefusalMark(`${text}\nIt blocks until it works again.`)))
      const event = known.get(name)
      if (event === undefined) return noOpinion
      return wire.answer(name, failed(event, text, wire.isFirstStop(fields)))
    },
  }
}

/** The command line knows the event's name; a name that does not fit the event is ignored. */
function answeredName(wire: AgentWire, event: HookEvent, caller: HookCaller): string | null {
  const told = wire.nameIn({}, caller)
  return told !== null && wire.known.get(told)?.kind === event.kind ? told : nameOf(wire.known, event)
}

function nameOf(known: AgentWire['known'], event: HookEvent): string | null {
  const names = [...known].filter(([, { kind }]) => kind === event.kind).map(([name]) => name)
  const isFailure = event.kind === 'tool_after' && event.outcome.kind === 'failure'
  const fitting = names.filter((name) => name.endsWith('Failure') === isFailure)
  return fitting.at(-1) ?? names.at(-1) ?? null
}

function failed({ kind, channels }: KnownEvent, text: string, isFirstStop: boolean): HookMessages {
  const isStop = kind === 'stop' || kind === 'subagent_stop'
  const mustBlock = kind === 'tool_before' || kind === 'config_change' || (isStop && isFirstStop)
  if (mustBlock && channels.block)
    return { ...noMessages, block: hookText(withRefusalMark(`${text}\n${adviceFor(isStop)}`)) }
  return channels.notice ? { ...noMessages, notice: hookText(withRefusalMark(text)) } : noMessages
}

function adviceFor(isStop: boolean): string {
  return isStop
    ? 'Whether the work is verified is not known: tell the person so. The next attempt to stop is let through.'
    : 'It blocks what it cannot judge. Tell the person: `gantry guard status` shows what is wrong.'
}
