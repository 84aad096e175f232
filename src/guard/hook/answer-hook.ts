import { isUtf8 } from 'node:buffer'
import type { HookCaller, HookCodec, HookReply } from '../../agents/hook-codec.ts'
import { detectCaller, type HookedAgent, hookCodecs } from '../../agents/hook-codecs.ts'
import { GantryError } from '../../core/error.ts'
import type { HookKind } from '../../core/hook-event.ts'
import { defined } from '../../core/json-fields.ts'
import type { HookCheck } from '../../guard-engine/facts/gather-facts.ts'
import { findRoot, guardHome } from '../../guard-engine/ledger/ledger-place.ts'
import { type GuardMemory, openGuard } from '../../guard-engine/open-guard.ts'
import { rules } from '../../rules/index.ts'

/** One call of a hook: its command line, its environment and its stdin. */
export interface HookInvocation {
  /** As given on the command line. May be an agent that the guard does not know. */
  readonly agent: string
  readonly event: string | null
  readonly agentVersion: string | null
  readonly env: Readonly<Record<string, string | undefined>>
  readonly payload: Uint8Array
  /** Id of the event in the ledger. It counts once, even when two processes answer it. */
  readonly eventId: string
}

/** The hook program that is running. */
export interface RunningHook {
  readonly node: string
  /** Absolute; null when the guard runs inside another program. */
  readonly hookBin: string | null
  /** Directory where a checkout keeps the bundles built from its sources. */
  readonly bundles?: string
  /** Changes with every change of the program. */
  readonly edition: string
  /** Of the helper. */
  readonly resident?: GuardMemory
}

export interface AnsweredHook {
  readonly reply: HookReply
  /** null when the payload could not be decoded. */
  readonly kind: HookKind | null
}

const silent: HookReply = { stdout: '', stderr: '', exitCode: 0 }

/**
 * Decodes the payload, asks the guard and encodes its decision for the agent. Never throws: an error blocks if the agent can be blocked. So
 * does a guard that is `late`, but the event is recorded.
 */
export async function answerHook(
  request: HookInvocation,
  program: RunningHook,
  late?: Promise<'late'>,
): Promise<AnsweredHook> {
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
    const registered = codec.events.find(({ event: known }) => known === name)
    if (registered !== undefined && !mayBe(kind, registered.kind)) {
      // A payload that names an unknown or another event must not turn off the hook of a registered one.
      payload = undefined
      throw new GantryError('INVALID_FILE', `the payload does not belong to the event ${name}`)
    }
    if (who?.kind === 'borrowed') {
      const { hasGuardHook } = await import('../../agents/hook-installers.ts')
      const root = findRoot(event.root)
      if (hasGuardHook({ agent: who.agent, codec, root, env, program })) return { reply: silent, kind }
    }
    const guard = openGuard({
      rules,
      guardHome: guardHome(env),
      env,
      ...program,
      checkHooks: hookCheck(env, program),
    })
    const decision = await guard.handle(event, defined({ eventId, traits: codec.traits, late }))
    return { reply: codec.encode(event, decision, caller), kind }
  } catch (error) {
    return { reply: codec.fail(payload, caller, whyFailed(error)), kind }
  }
}

/** Whether what was decoded is judged at least as strictly as the registered event. */
function mayBe(decoded: HookKind, registered: HookKind): boolean {
  if (decoded === 'other' || registered === 'tool_before' || registered === 'config_change')
    return decoded === registered
  return !/stop$/.test(registered) || /stop$/.test(decoded)
}

/** Loaded only when hooks are checked: after most calls a look at one file is enough. */
function hookCheck(env: HookInvocation['env'], { node, hookBin }: RunningHook): HookCheck {
  const program = hookBin === null ? null : { node, hookBin }
  return {
    notice: async (root) => (await import('../../guard-install/keep-hooks.ts')).noticeHooks({ root, env }),
    keep: async (root) =>
      (await import('../../guard-install/keep-hooks.ts')).keepHooks({ root, env, program }),
  }
}

/** The agent's reply to an error of the guard itself. */
export function failedReply(
  {
    agent,
    event,
    env,
    agentVersion,
    payload,
  }: Omit<HookInvocation, 'payload' | 'eventId'> & { readonly payload: Uint8Array | undefined },
  error: unknown,
): HookReply {
  const read = payload === undefined ? undefined : readPayload(payload)
  return codecOf(agent).fail(read, { event, env, version: agentVersion }, whyFailed(error))
}

function isHookedAgent(agent: string): agent is HookedAgent {
  return Object.hasOwn(hookCodecs, agent)
}

/** The codec of the agent named on the command line. An unknown agent cannot be decoded, so every event is blocked. */
export function codecOf(agent: string): HookCodec {
  if (isHookedAgent(agent)) return hookCodecs[agent]
  return {
    ...hookCodecs['claude-code'],
    events: [],
    decode: () => {
      throw new GantryError('USAGE', `unknown agent ${agent}`)
    },
    // Exit code 2 with the reason on stderr is the form most agents understand.
    fail: (_payload, _caller, why) => ({
      stdout: '',
      stderr: `the guard itself failed: ${why}\n`,
      exitCode: 2,
    }),
  }
}

/** Parses the payload as one JSON value. Rejects invalid UTF-8, because a replaced byte in a path would name another file. */
export function readPayload(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw new GantryError('INVALID_FILE', 'the agent sent its hook an empty payload')
  if (!isUtf8(bytes)) throw new GantryError('INVALID_FILE', 'the payload is not UTF-8 text')
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch (cause) {
    throw new GantryError('INVALID_FILE', 'the payload is not one JSON value', { cause })
  }
}

/** The error message with its hint. For a bug in the guard, also the source line. */
function whyFailed(error: unknown): string {
  if (error instanceof GantryError)
    return error.hint === undefined ? error.message : `${error.message}. ${error.hint}`
  if (!(error instanceof Error)) return String(error)
  const where = error.stack?.split('\n').find((line) => line.trim().startsWith('at '))
  return where === undefined ? error.message : `${error.message} (${where.trim()})`
}
