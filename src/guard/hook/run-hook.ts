import type { HookReply } from '../../agents/hook-codec.ts'
import { quickId } from '../../io/quick-random.ts'
import { readInput } from '../../io/read-input.ts'
import type { HookAnswer } from './answer-hook.ts'
import { type Deadline, startDeadline } from './deadline.ts'
import { type HookArguments, hookArguments } from './hook-arguments.ts'
import type { HookRequest } from './hook-request.ts'
import { type ResidentCall, residentAt } from './resident/resident-at.ts'
import { whyFailed } from './why-failed.ts'

export interface HookCall extends ResidentCall {
  readonly argv: readonly string[]
  /** Descriptor the payload comes in on. */
  readonly input: number
}

export interface HookRun {
  readonly reply: HookReply
  /** A thread still waits for input: the process must be left by `leaveNow`. */
  readonly isStuck: boolean
  /** To be called once the reply is out: a session begins, and nobody helps yet. */
  readonly startHelper: (() => Promise<void>) | null
}

const maxPayloadBytes = 64 * 1024 * 1024

/**
 * A hook from its command line to its answer, which comes before the agent gives up waiting for it. Never throws. A helper is
 * asked first, and then nothing of the guard itself is loaded here.
 */
export async function runHook(call: HookCall): Promise<HookRun> {
  const given = hookArguments(call.argv)
  if (typeof given === 'string') return failed(call, noArguments, `the hook is called wrongly: ${given}`)
  const deadline = startDeadline(given)
  try {
    return await answered(call, given, deadline)
  } catch (error) {
    return await failed(call, given, whyFailed(error))
  } finally {
    deadline.clear()
  }
}

const noArguments: HookArguments = { agent: '', event: null, agentVersion: null }

async function answered(call: HookCall, given: HookArguments, deadline: Deadline): Promise<HookRun> {
  const input = await Promise.race([readInput(call.input, maxPayloadBytes), deadline.passed])
  if (input === 'late')
    return { ...(await failed(call, given, 'the agent did not end what it told its hook')), isStuck: true }
  if (input === 'too_large')
    return await failed(call, given, `the payload is larger than ${maxPayloadBytes / 1024 / 1024} MiB`)
  const request: HookRequest = { ...given, env: call.env, payload: input, eventId: `e_${quickId(16)}` }
  const resident = residentAt(call)
  const answer = async (): Promise<HookAnswer> => {
    const reply = (await resident?.ask(request)) ?? null
    if (reply !== null) return { reply, kind: null }
    const { answerHook } = await import('./answer-hook.ts')
    return answerHook(request, call.program)
  }
  const first = await Promise.race([answer(), deadline.passed])
  if (first === 'late') return failed(call, given, 'it had no answer in time', input)
  const startsHelper = first.kind === 'session_start' && resident !== null
  return { reply: first.reply, isStuck: false, startHelper: startsHelper ? resident.start : null }
}

/** With the payload where there is one: a stop that was already refused must not be held by a guard that does not work. */
async function failed(
  call: HookCall,
  { agent, event, agentVersion }: HookArguments,
  why: string,
  input?: Uint8Array,
): Promise<HookRun> {
  const { codecOf } = await import('./codec-of.ts')
  const { readPayload } = await import('./read-payload.ts')
  const payload = input === undefined ? undefined : readPayload(input)
  const reply = codecOf(agent).fail(payload, { event, env: call.env, version: agentVersion }, why)
  return { reply, isStuck: false, startHelper: null }
}
