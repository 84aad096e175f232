import type { Decision } from '../core/decision.ts'
import type { GuardedAgent, HookEvent, HookKind, HookTraits } from '../core/hook-event.ts'

/**
 * The hook protocol of one agent. Pure.
 *
 * A codec guarantees:
 * - unknown fields of a payload are accepted, and a payload of another agent is refused with a readable error;
 * - the agent's version accepts an answer as a whole: agents drop an answer with unknown fields, and continue;
 * - a denial uses the agent's strongest form: exit code 2 with the reason on stderr where it has one.
 */
export interface HookCodec {
  readonly agent: GuardedAgent
  readonly capabilities: HookCapabilities
  readonly traits: HookTraits
  /** Events to register, in the agent's own names. */
  readonly events: readonly HookRegistration[]
  /** Throws GantryError INVALID_FILE for an unreadable payload. `root` of the event is as the payload gives it. */
  decode(payload: unknown, caller: HookCaller): HookEvent
  encode(event: HookEvent, decision: Decision, caller: HookCaller): HookReply
  /**
   * The answer when the guard itself failed: blocks where possible, with the reason. `payload` may be anything,
   * including undefined; a repeated stop is allowed, so that a broken guard cannot keep an agent running forever.
   */
  fail(payload: unknown, caller: HookCaller, why: string): HookReply
}

export interface HookCaller {
  /** The event's name from the command line; some payloads do not contain it. */
  readonly event: string | null
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of the agent, when it is known. */
  readonly version: string | null
}

/** Each is written at once; nothing else may reach stdout. */
export interface HookReply {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

export interface HookRegistration {
  /** As the agent spells it. */
  readonly event: string
  readonly kind: HookKind
  /** Absent where the event supports none. */
  readonly matcher?: string
  readonly timeoutSeconds: number
  /** A failure of this hook must block, where the agent has a setting for it. */
  readonly mustBlock: boolean
}

/** What an agent can enforce. `guard status` lists what it cannot. */
export interface HookCapabilities {
  readonly denyTool: Capability
  readonly injectAtStart: Capability
  readonly injectAfterTool: Capability
  readonly refuseStop: Capability
  readonly refuseSubagentStop: Capability
  readonly relayCompaction: Capability
  /** Whether a hook learns that a command failed. */
  readonly failureSignal: Capability
  /** Whether a hook that crashes, hangs or cannot be started blocks. */
  readonly failClosed: Capability
  readonly vetoConfigChange: Capability
}

/** `yes`, or what is missing and what the guard does instead, as a sentence. */
export type Capability = { readonly kind: 'yes' } | { readonly kind: 'partly' | 'no'; readonly why: string }
