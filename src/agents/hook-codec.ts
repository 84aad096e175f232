import type { Decision } from '../core/decision.ts'
import type { GuardedAgent, HookEvent, HookKind, HookTraits } from '../core/hook-event.ts'

/**
 * What one agent's hooks look like on the wire. Pure.
 *
 * A codec promises:
 * - unknown fields of a payload are accepted, a payload that is not this agent's is refused with a readable error;
 * - an answer is one the agent's version accepts as a whole: agents drop an answer they do not know, and go on;
 * - a denial uses the agent's strongest form: exit code 2 with the reason on stderr where it has one.
 */
export interface HookCodec {
  readonly agent: GuardedAgent
  readonly capabilities: HookCapabilities
  readonly traits: HookTraits
  /** Events to register, in the agent's own names. */
  readonly events: readonly HookRegistration[]
  /** Throws GantryError INVALID_FILE for a payload that cannot be read. `root` of the event is as the payload gives it. */
  decode(payload: unknown, caller: HookCaller): HookEvent
  encode(event: HookEvent, decision: Decision, caller: HookCaller): HookReply
  /**
   * For when the guard itself failed: blocks where that is possible, and says why. `payload` may be anything, also undefined;
   * a stop that is already a repeated one is let go, so that a broken guard cannot hold an agent for ever.
   */
  fail(payload: unknown, caller: HookCaller, why: string): HookReply
}

export interface HookCaller {
  /** The event's name from the command line; some payloads do not carry it. */
  readonly event: string | null
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of the agent, when it is known. */
  readonly version: string | null
}

/** Written with one write each; nothing else may reach stdout. */
export interface HookReply {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

export interface HookRegistration {
  /** As the agent spells it. */
  readonly event: string
  readonly kind: HookKind
  /** Absent where the event takes none. */
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
  /** Does a hook learn that a command failed? */
  readonly failureSignal: Capability
  /** Does a hook that crashes, hangs or cannot be started block? */
  readonly failClosed: Capability
  readonly vetoConfigChange: Capability
}

/** `yes`, or what is missing and what the guard does instead, as a sentence. */
export type Capability = { readonly kind: 'yes' } | { readonly kind: 'partly' | 'no'; readonly why: string }
