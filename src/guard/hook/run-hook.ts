import type { HookRegistration, HookReply } from '../../agents/hook-codec.ts'
import type { HookKind } from '../../core/hook-event.ts'
import { processAgeMs } from '../../io/clock.ts'
import { quickId } from '../../io/quick-random.ts'
import { readInput } from '../../io/read-input.ts'
import type { AnsweredHook, HookInvocation, RunningHook } from './answer-hook.ts'

export interface HookProcess {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly program: RunningHook
  /** null where the system has none. */
  readonly uid: number | null
}

export interface HookCall extends HookProcess {
  readonly argv: readonly string[]
  readonly input: number
}

export interface HookRun {
  readonly reply: HookReply
  /** A thread still waits for input, so the process must exit with `exitNow`. */
  readonly isStuck: boolean
  /** To be called after the reply is written: the agent begins to work, and no helper answered. Makes later hooks faster. */
  readonly prepare: (() => Promise<void>) | null
}

const maxPayloadBytes = 64 * 1024 * 1024

/**
 * Runs a hook from its command line to its answer, within the time the agent waits. Never throws. A launcher has asked the helper before.
 */
export async function runHook(call: HookCall): Promise<HookRun> {
  const given = hookArguments(call.argv)
  if (typeof given === 'string') return failed(call, noArguments, `invalid hook command line: ${given}`)
  const deadline = startDeadline(given, (given.launched?.goneMs ?? 0) + processAgeMs())
  try {
    return await answered(call, given, deadline)
  } catch (error) {
    return await failed(call, given, error)
  } finally {
    deadline.clear()
  }
}

const noArguments: HookArguments = { agent: '', event: null, agentVersion: null, launched: null }

async function answered(call: HookCall, given: HookArguments, deadline: Deadline): Promise<HookRun> {
  const reading = readInput(call.input, maxPayloadBytes, given.launched?.isFed)
  const input = await Promise.race([reading, deadline.over])
  if (input === 'over')
    return { ...(await failed(call, given, 'the agent did not close the input of its hook')), isStuck: true }
  if (input === 'too_large')
    return await failed(call, given, `the payload is larger than ${maxPayloadBytes / 1024 / 1024} MiB`)
  const { launched, ...asked } = given
  const eventId = launched?.eventId ?? `e_${quickId(16)}`
  const request: HookInvocation = { ...asked, env: call.env, payload: input, eventId }
  const { reply, kind } = await answerInTime(request, call.program, deadline)
  const begins = kind === 'session_start' || kind === 'prompt'
  return {
    reply,
    isStuck: false,
    prepare: begins && launched ? () => prepareHooks(call, launched.helper) : null,
  }
}

/** Starts a helper, unless there is no bundle to run or it is switched off. */
async function prepareHooks({ env, program, uid }: HookCall, name: string): Promise<void> {
  const { node, hookBin } = program
  const { tryNodeOptions } = await import('../../guard-install/ask-helper.ts')
  tryNodeOptions(node, env)
  if (env.GANTRY_GUARD_RESIDENT === 'off' || uid === null || !hookBin?.endsWith('.js')) return
  const { startDetached } = await import('../../io/start-detached.ts')
  startDetached(node, [hookBin, '--serve', name], env)
}

/** Uses the payload if there is one: a failing guard must not block an agent whose stop was already refused. */
async function failed(
  { env }: HookCall,
  given: HookArguments,
  error: unknown,
  payload?: Uint8Array,
): Promise<HookRun> {
  const { failedReply } = await import('./answer-hook.ts')
  return { reply: failedReply({ ...given, env, payload }, error), isStuck: false, prepare: null }
}

/** `--agent NAME [EVENT] [--agent-version V] [--launched ID,HELPER,SECONDS[,fed]]`. */
export interface HookArguments {
  readonly agent: string
  readonly event: string | null
  readonly agentVersion: string | null
  /** Set by a launcher that got no answer from the helper. */
  readonly launched: Launch | null
}

interface Launch {
  /** The helper may answer the same event later. It counts once. */
  readonly eventId: string
  /** The name of the helper that would answer. */
  readonly helper: string
  readonly goneMs: number
  /** The input is in a pipe to its end. */
  readonly isFed: boolean
}

/** A sentence when the arguments are invalid. A hook that guessed could guard the wrong thing. */
export function hookArguments(argv: readonly string[]): HookArguments | string {
  const values = new Map<string, string>()
  const events: string[] = []
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? ''
    const [name = '', inline] = word.split(/=(.*)/s, 2)
    if (!word.startsWith('-')) events.push(word)
    else if (!options.has(name)) return `unknown option ${name}`
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
  if (events.length > 1) return `expected at most one event, got ${events.join(' and ')}`
  const launch = values.get('--launched')
  const launched = launch === undefined ? null : launchOf(launch)
  if (launched === undefined) return `--launched cannot be ${launch}`
  return { agent, event: events[0] ?? null, agentVersion: values.get('--agent-version') ?? null, launched }
}

const options = new Set(['--agent', '--agent-version', '--launched'])

function launchOf(text: string): Launch | undefined {
  const [, eventId, helper, seconds, fed] = /^(e_[0-9a-f]+),([0-9a-f]{16}),(\d+)(,fed)?$/.exec(text) ?? []
  if (eventId === undefined || helper === undefined) return undefined
  // Whole seconds: the rest may be almost one more.
  const goneMs = seconds === '0' ? 0 : (Number(seconds) + 1) * 1000
  return { eventId, helper, goneMs, isFed: fed !== undefined }
}

/** How long ago a launcher made up this id, which begins with the second; 0 when it does not show. */
export function askedAgoMs(eventId: string, nowMs: number): number {
  const goneMs = nowMs - Number.parseInt(/^e_([0-9a-f]{8})[0-9a-f]+$/.exec(eventId)?.[1] ?? '', 16) * 1000
  // Within one second nothing is known, and no launcher waits for a minute: then the clock was set.
  return goneMs >= 1_000 && goneMs < 60_000 ? goneMs : 0
}

/** The guard's answer, or the agent's reply to a guard that is too slow. */
export async function answerInTime(
  request: HookInvocation,
  program: RunningHook,
  deadline: Deadline,
): Promise<AnsweredHook> {
  const { answerHook, failedReply } = await import('./answer-hook.ts')
  const answering = answerHook(request, program, deadline.passed)
  const first = await Promise.race([answering, deadline.over])
  if (first !== 'over') return first
  // A refusal must reach the agent while it waits. What cannot be refused can wait until it is recorded.
  if ((await registered(request)).every(({ kind }) => !refusable.has(kind))) return await answering
  return { reply: failedReply(request, 'the guard did not answer in time'), kind: null }
}

const refusable: ReadonlySet<HookKind> = new Set(['tool_before', 'config_change', 'stop', 'subagent_stop'])

export type Deadline = ReturnType<typeof startDeadline>

/** Most hooks finish long before the deadline, so it is worked out late. */
const carefreeMs = 500
/** Used when the agent registers no timeout. */
const defaultTimeoutMs = 5_000

type Asked = Pick<HookInvocation, 'agent' | 'event'>

/**
 * Earlier than the agent's timeout: most agents continue without a decision when a hook takes too long. `goneMs` is how long the agent has
 * been waiting already.
 */
export function startDeadline(asked: Asked, goneMs: number) {
  const passed = Promise.withResolvers<'late'>()
  const over = Promise.withResolvers<'over'>()
  let isCleared = false
  let timer = setTimeout(async () => {
    const { limitMs, reserveMs } = await registeredTime(asked)
    if (isCleared) return
    // In many turns: on a busy machine a single timer can pass before anything else got a turn.
    const wait = (left: number): void => {
      if (left === 0) over.resolve('over')
      else timer = setTimeout(wait, reserveMs / 2 / turns, left - 1)
    }
    timer = setTimeout(
      () => {
        passed.resolve('late')
        wait(turns)
      },
      // Node warns about a negative time, and the agent would read that.
      Math.max(1, limitMs - reserveMs - carefreeMs - goneMs),
    )
  }, carefreeMs)
  return {
    /** Time to record the event and to answer without a decision. */
    passed: passed.promise,
    /** Time to refuse, even if nothing could be recorded. */
    over: over.promise,
    clear: (): void => {
      isCleared = true
      clearTimeout(timer)
    },
  }
}

const turns = 10

async function registered({ agent, event }: Asked): Promise<readonly HookRegistration[]> {
  const { codecOf } = await import('./answer-hook.ts')
  return codecOf(agent).events.filter((one) => event === null || one.event === event)
}

async function registeredTime(asked: Asked): Promise<{ limitMs: number; reserveMs: number }> {
  const timeouts = (await registered(asked)).map(({ timeoutSeconds }) => timeoutSeconds * 1000)
  const limitMs = timeouts.length === 0 ? defaultTimeoutMs : Math.min(...timeouts)
  return { limitMs, reserveMs: Math.min(2_000, limitMs * 0.2) }
}
