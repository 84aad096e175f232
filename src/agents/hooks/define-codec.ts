import { GantryError } from '../../core/error.ts'
import type { GuardedAgent, HookEvent, HookEventBase, HookKind, HookTraits } from '../../core/hook-event.ts'
import { asObject, defined, type JsonObject } from '../../core/json-fields.ts'
import { withRefusalMark } from '../../core/refusal-mark.ts'
import type {
  Capability,
  HookCaller,
  HookCapabilities,
  HookCodec,
  HookRegistration,
  HookReply,
} from '../hook-codec.ts'
import {
  type AnswerChannels,
  blocking,
  type HookMessages,
  hookText,
  messagesOf,
  noMessages,
  silent,
} from './answer.ts'
import { eventDetail, type PayloadReader } from './event-detail.ts'
import { textIn } from './payload.ts'

/** The agent-specific parts of a codec. Event names are the agent's own. */
export interface AgentWire extends PayloadReader {
  readonly agent: GuardedAgent
  /** What it cannot do. Everything else it can. */
  readonly limits: Partial<HookCapabilities>
  readonly traits?: HookTraits
  /**
   * Every event it knows, in the order of registration. An event that is missing here is `other`, and is never answered.
   * Of several of one kind the last is used when the name is not given; one that ends in `Failure` only for failures.
   */
  readonly known: ReadonlyMap<string, KnownEvent>
  /** Default: the name in the payload, as Claude Code writes it, else that of the command line. */
  nameIn?(payload: JsonObject, caller: HookCaller): string | null
  origin(payload: JsonObject, env: HookCaller['env']): HookOrigin
  answer(name: string, messages: HookMessages): HookReply
  /** The answer without an opinion, where an empty one is not accepted. */
  readonly noOpinion?: HookReply
  /** Whether the payload is certain that this is not a repeated stop. Default: as Claude Code writes it. */
  isFirstStop?(payload: JsonObject): boolean
}

/** Where an event comes from. Missing ids are null. */
export interface HookOrigin extends Partial<Omit<HookEventBase, 'agent' | 'cwd' | 'root'>> {
  readonly session: string
  /** null when neither the payload nor the environment has an absolute path. */
  readonly cwd: string | null
  /** Default: `cwd`. */
  readonly root?: string | null
}

export interface KnownEvent extends AnswerChannels {
  readonly kind: HookKind
  /** Absent where the event supports none. */
  readonly matcher?: string
  readonly timeoutSeconds?: number
  readonly isRegistered?: false
}

export function defineCodec(wire: AgentWire): HookCodec {
  const { agent, limits, traits = {}, known, noOpinion = silent } = wire
  const { nameIn = claudeEventName, isFirstStop = ({ stop_hook_active }) => stop_hook_active === false } =
    wire
  /** The command line has the event's name; a name that does not match the event is ignored. */
  const answeredName = (event: HookEvent, caller: HookCaller): string | null => {
    const named = nameIn({}, caller)
    return named !== null && known.get(named)?.kind === event.kind ? named : nameOf(known, event)
  }
  return {
    agent,
    capabilities: { ...everything, ...limits },
    traits,
    events: registrations(known),
    decode(payload, caller) {
      const fields =
        asObject(payload) ??
        unreadable(agent, 'is not a JSON object', 'Pass the payload of the agent on stdin.')
      const name =
        nameIn(fields, caller) ??
        unreadable(agent, 'does not name its event', 'Give the event after --agent on the command line.')
      const {
        session,
        agentId = null,
        agentType = null,
        promptId = null,
        ...place
      } = wire.origin(fields, caller.env)
      // Without it every relative path would be a guess.
      const cwd =
        place.cwd ??
        unreadable(agent, 'has no working directory', 'It needs a field `cwd` with an absolute path.')
      const base = { agent, session, agentId, agentType, promptId, cwd, root: place.root ?? cwd }
      return { ...base, ...eventDetail(known.get(name)?.kind ?? 'other', name, fields, wire) }
    },
    encode(event, decision, caller) {
      const name = answeredName(event, caller)
      const channels = name === null ? undefined : known.get(name)
      if (name === null || channels === undefined) return noOpinion
      return wire.answer(name, messagesOf(decision, channels))
    },
    fail(payload, caller, why) {
      const fields = asObject(payload) ?? {}
      const name = nameIn(fields, caller)
      const text = `the guard itself failed: ${why}`
      // It is unknown what this would allow.
      if (name === null)
        return blocking(hookText(withRefusalMark(`${text}\nIt blocks until it works again.`)))
      const event = known.get(name)
      if (event === undefined) return noOpinion
      return wire.answer(name, failed(event, text, isFirstStop(fields)))
    },
  }
}

function unreadable(agent: GuardedAgent, problem: string, hint: string): never {
  throw new GantryError('INVALID_FILE', `the payload of ${agent}'s hook ${problem}`, { hint })
}

export function claudeEventName(payload: JsonObject, caller: HookCaller): string | null {
  return textIn(payload, 'hook_event_name') ?? caller.event
}

/** A hook blocks before tools, before settings change and at stops, where the gate may run the tests itself. */
function registrations(known: AgentWire['known']): readonly HookRegistration[] {
  return [...known]
    .filter(([, { isRegistered = true }]) => isRegistered)
    .map(([event, { kind, block = false, matcher, timeoutSeconds = timeouts[kind] ?? 10 }]) =>
      defined({ event, kind, timeoutSeconds, mustBlock: block && blockingKinds.has(kind), matcher }),
    )
}

const timeouts: Partial<Record<HookKind, number>> = {
  stop: 600,
  subagent_stop: 600,
  session_end: 5,
  stop_failed: 5,
}

const blockingKinds = new Set<HookKind>(['tool_before', 'config_change', 'stop', 'subagent_stop'])

function nameOf(known: AgentWire['known'], event: HookEvent): string | null {
  const names = [...known].filter(([, { kind }]) => kind === event.kind).map(([name]) => name)
  const isFailure = event.kind === 'tool_after' && event.outcome.kind === 'failure'
  const fitting = names.filter((name) => name.endsWith('Failure') === isFailure)
  return fitting.at(-1) ?? names.at(-1) ?? null
}

function failed({ kind, block, notice }: KnownEvent, text: string, isFirstStop: boolean): HookMessages {
  const isStop = kind === 'stop' || kind === 'subagent_stop'
  const mustBlock = kind === 'tool_before' || kind === 'config_change' || (isStop && isFirstStop)
  const advice = isStop
    ? 'Whether the work is verified is not known: tell the person so. The next attempt to stop is let through.'
    : 'It blocks what it cannot judge. Tell the person: `gantry guard status` shows what is wrong.'
  if (mustBlock && block) return { ...noMessages, block: hookText(withRefusalMark(`${text}\n${advice}`)) }
  return notice ? { ...noMessages, notice: hookText(withRefusalMark(text)) } : noMessages
}

const yes = { kind: 'yes' } as const

const everything: HookCapabilities = {
  denyTool: yes,
  injectAtStart: yes,
  injectAfterTool: yes,
  refuseStop: yes,
  refuseSubagentStop: yes,
  relayCompaction: yes,
  failureSignal: yes,
  failClosed: yes,
  vetoConfigChange: yes,
}

export function partly(why: string): Capability {
  return { kind: 'partly', why }
}

export function impossible(why: string): Capability {
  return { kind: 'no', why }
}

/** `lacking`: such as `Codex has no event`. */
export function noVeto(lacking: string): Capability {
  return impossible(
    `${lacking} for it; changes of the guard’s files are denied as file changes, and the seal finds the rest.`,
  )
}
