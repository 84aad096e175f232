import type { HookReply } from '../../agents/hook-codec.ts'
import { quickId } from '../../io/quick-random.ts'
import { readInput } from '../../io/read-input.ts'
import type { AnsweredHook, HookInvocation } from './answer-hook.ts'
import { type ResidentCall, residentAt } from './resident/resident-at.ts'

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
    return await failed(call, given, error)
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
  const request: HookInvocation = { ...given, env: call.env, payload: input, eventId: `e_${quickId(16)}` }
  const resident = residentAt(call)
  const answer = async (): Promise<AnsweredHook> => {
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

/** With the payload where there is one: a guard that does not work must not hold an agent whose stop was already refused. */
async function failed(
  { env }: HookCall,
  given: HookArguments,
  error: unknown,
  payload?: Uint8Array,
): Promise<HookRun> {
  const { failedReply } = await import('./answer-hook.ts')
  return { reply: failedReply({ ...given, env, payload }, error), isStuck: false, startHelper: null }
}

/** `--agent NAME [EVENT] [--agent-version V]`. */
export interface HookArguments {
  readonly agent: string
  readonly event: string | null
  readonly agentVersion: string | null
}

/** A sentence when they make no sense: a hook that guesses would guard something else. */
export function hookArguments(argv: readonly string[]): HookArguments | string {
  const values = new Map<string, string>()
  const events: string[] = []
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? ''
    const [name = '', inline] = word.split(/=(.*)/s, 2)
    if (!word.startsWith('-')) events.push(word)
    else if (name !== '--agent' && name !== '--agent-version') return `there is no option ${name}`
    else if (values.has(name)) return `${name} is given twice`
    else {
      const value = inline ?? argv[index + 1]
      if (inline === undefined) index += 1
      if (value === undefined || value === '') return `${name} needs a value`
      values.set(name, value)
    }
  }
  const agent = values.get('--agent')
  if (agent === undefined) return '--agent is missing'
  if (events.length > 1) return `one event at most, not ${events.join(' and ')}`
  return { agent, event: events[0] ?? null, agentVersion: values.get('--agent-version') ?? null }
}

/** When an answer must be out. */
interface Deadline {
  readonly passed: Promise<'late'>
  clear(): void
}

/** Most hooks are done long before, and need not know how long they would have had. */
const carefreeMs = 1_000
/** Where nothing is registered. */
const defaultTimeoutMs = 5_000

/** Before the agent's own: most agents go on as if nothing had been said when a hook takes too long. */
function startDeadline(given: HookArguments): Deadline {
  const { promise: passed, resolve } = Promise.withResolvers<'late'>()
  let isOver = false
  let timer = setTimeout(async () => {
    const limitMs = await registeredMs(given)
    if (!isOver) timer = setTimeout(resolve, limitMs - carefreeMs, 'late')
  }, carefreeMs)
  return {
    passed,
    clear: () => {
      isOver = true
      clearTimeout(timer)
    },
  }
}

async function registeredMs({ agent, event }: HookArguments): Promise<number> {
  const { codecOf } = await import('./answer-hook.ts')
  const registered = codecOf(agent).events.filter((one) => event === null || one.event === event)
  const timeouts = registered.map(({ timeoutSeconds }) => timeoutSeconds * 1000)
  const timeoutMs = timeouts.length === 0 ? defaultTimeoutMs : Math.min(...timeouts)
  return timeoutMs - Math.min(2_000, timeoutMs * 0.2)
}
