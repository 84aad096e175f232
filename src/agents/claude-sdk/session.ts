import type { AgentEnding } from '../../core/event.ts'
import { definedVariables } from '../../core/expand.ts'
import { asString, type JsonObject } from '../../core/json-fields.ts'
import { isRoot } from '../../io/is-root.ts'
import { type OpenProcess, openProcess } from '../../io/open-process.ts'
import { createBackgroundAgents } from '../claude-code/background-agents.ts'
import { claudeCredentials } from '../claude-code/claude-code.ts'
import { resumeWarnings } from '../claude-code/launch.ts'
import { createStreamParser } from '../claude-code/stream.ts'
import type { AgentOutcome, SessionRequest } from '../contract.ts'
import { endingOfAbort, isStoppedByUs, passedLimit } from '../limits.ts'
import type { UsageTotal } from '../stream.ts'
import { sdkEnvironment, sdkSettings } from './launch.ts'
import type { ClaudeSdkConfig } from './schema.ts'
import { type ClaudeSdk, createPromptQueue, type SdkSpawn, sdkPackage } from './sdk.ts'

/** One agent of the configuration. */
export interface ClaudeSdkAgent {
  /** The name the user gave it. */
  readonly name: string
  readonly config: ClaudeSdkConfig
  /** Absolute: where relative paths of the configuration start. */
  readonly base: string
}

export interface SdkSession {
  ask(prompt: string): Promise<AgentOutcome>
  /** Ends it and emits `complete`. Returns warnings for the reader of the result. */
  finish(): Promise<readonly string[]>
}

/** How long Claude Code may take to go by itself once no prompt can follow. */
const farewell = { waitMs: 3_000, graceMs: 2_000 }
const atOnce = { waitMs: 0, graceMs: 2_000 }

/**
 * One Claude Code process that answers prompt after prompt. Time and turns are limited per prompt, money for the whole
 * session. A prompt that was stopped takes the session with it.
 */
export function openSdkSession(agent: ClaudeSdkAgent, sdk: ClaudeSdk, request: SessionRequest): SdkSession {
  const { emit, signal } = request
  const place = { base: agent.base, isRoot: isRoot() }
  const startedAt = performance.now()
  const parser = createStreamParser()
  const background = createBackgroundAgents()
  const prompts = createPromptQueue()
  const stderr = new TextDecoder()
  let child: OpenProcess | null = null
  let stopped: AgentEnding | null = null
  let current: Pending | null = null
  let last: Pick<AgentOutcome, 'ending' | 'exitCode'> | null = null
  /** Thrown by the receiver of our events: not the agent's fault, so it is thrown again. */
  let fault: { readonly error: unknown } | null = null
  let trouble: string | null = null

  const stop = (why: AgentEnding): void => {
    stopped ??= why
    prompts.end()
    void child?.end(atOnce)
  }
  const abort = (): void => stop(endingOfAbort(signal))

  const spawnProcess = ({ command, args, cwd, env }: SdkSpawn): OpenProcess => {
    child = openProcess({
      argv: [command, ...args],
      cwd: cwd ?? request.workspace,
      env: definedVariables(env),
      onStdout: guard(request.transcript),
      onStderr: guard((chunk) => {
        request.transcript(chunk)
        const text = stderr.decode(chunk, { stream: true })
        if (text !== '') emit({ event: 'output', text, stream: 'stderr' })
      }),
    })
    const { pid } = child
    emit({ event: 'spawn', command, args, ...(pid !== undefined && { pid }) })
    if (signal.aborted) abort()
    return child
  }

  function guard<T>(use: (value: T) => void): (value: T) => void {
    return (value) => {
      if (fault !== null) return
      try {
        use(value)
      } catch (error) {
        fault = { error }
        stop('cancelled')
      }
    }
  }

  const take = guard((message: JsonObject) => {
    for (const event of parser.push(JSON.stringify(message))) {
      emit(event)
      if (event.event === 'message' && event.role === 'assistant' && event.parent_id === undefined)
        current?.hear(event.text)
    }
    background.see(message)
    const passed =
      current === null || stopped !== null
        ? null
        : passedLimit(request, parser.turns() - current.turnsBefore, parser.usage())
    if (passed !== null) stop(passed)
    if (message.type !== 'result' || current === null) return
    const text = asString(message.result)
    if (text !== undefined) current.hear(text)
    if (!background.isBusy()) current.answered(message.is_error === true)
  })

  const talk = async (): Promise<void> => {
    try {
      const options = {
        ...sdkSettings(agent.config, request, place),
        env: sdkEnvironment(agent.config, request, place, claudeCredentials),
        spawnClaudeCodeProcess: spawnProcess,
      }
      for await (const message of sdk.query({ prompt: prompts, options })) take(message)
    } catch (cause) {
      // That the process ended, and how, is seen on the process itself; this says why it never began.
      trouble = cause instanceof Error ? cause.message : String(cause)
    }
  }
  const talked = signal.aborted ? Promise.resolve() : talk()
  signal.addEventListener('abort', abort)
  if (child === null && signal.aborted) stop(endingOfAbort(signal))

  const howItEnded = async (): Promise<Pick<AgentOutcome, 'ending' | 'exitCode'>> => {
    if (stopped !== null) return { ending: stopped, exitCode: null }
    const exit = await child?.exit
    if (exit === undefined || exit.error !== undefined) {
      trouble = exit?.error?.message ?? trouble
      return { ending: 'not_started', exitCode: null }
    }
    return exit.signal === null
      ? { ending: 'exited', exitCode: exit.code }
      : { ending: 'crashed', exitCode: null }
  }

  const ask = async (prompt: string): Promise<AgentOutcome> => {
    if (current !== null) throw new Error('a session answers one prompt at a time')
    const before = parser.usage()
    const answer = Promise.withResolvers<boolean>()
    let finalText: string | null = null
    current = {
      turnsBefore: parser.turns(),
      hear: (text) => {
        finalText = text
      },
      answered: answer.resolve,
    }
    const timer = setTimeout(stop, Math.min(request.timeoutMs, 2 ** 31 - 1), 'timed_out')
    prompts.push(prompt)
    const isError = await Promise.race([answer.promise, talked.then(() => null)])
    clearTimeout(timer)
    current = null
    if (stopped !== null) await child?.end(atOnce)
    if (fault !== null) throw fault.error
    const { failure, invalid, passed } = parser.end()
    const ended: Pick<AgentOutcome, 'ending' | 'exitCode'> =
      isError === null || stopped !== null
        ? await howItEnded()
        : passed === undefined
          ? { ending: 'exited', exitCode: isError ? 1 : 0 }
          : { ending: passed, exitCode: null }
    last = ended
    const warnings = resumeWarnings(agent.config)
    return {
      ...ended,
      finalText,
      ...usageSince(before, parser.usage()),
      failure:
        ended.ending === 'not_started'
          ? { reason: 'unavailable', message: `agent ${agent.name}: ${trouble ?? 'it did not start'}` }
          : isStoppedByUs(ended.ending)
            ? null
            : failure,
      ...(invalid !== undefined && { invalid }),
      ...(warnings.length > 0 && { warnings }),
    }
  }

  const finish = async (): Promise<readonly string[]> => {
    if (current !== null) stop('cancelled')
    prompts.end()
    const survivors = (await child?.end(farewell)) ?? []
    await talked
    signal.removeEventListener('abort', abort)
    const rest = stderr.decode()
    if (rest !== '') emit({ event: 'output', text: rest, stream: 'stderr' })
    if (child === null) emit({ event: 'spawn', command: sdkPackage, args: [] })
    const { ending, exitCode } = last ?? (await howItEnded())
    const duration_secs = (performance.now() - startedAt) / 1_000
    emit({ event: 'complete', exit_code: exitCode, duration_secs, ending })
    if (fault !== null) throw fault.error
    return survivors.length === 0
      ? []
      : [`Processes the agent left behind could not be ended: ${survivors.join(', ')}.`]
  }

  return { ask, finish }
}

/** The prompt that is being worked on. */
interface Pending {
  readonly turnsBefore: number
  hear(text: string): void
  answered(isError: boolean): void
}

/** What was used between two looks at a total. */
function usageSince(before: UsageTotal, now: UsageTotal): UsageTotal {
  const { tokens, costUsd } = now
  const earlier = before.tokens ?? { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  return {
    costUsd: costUsd === null ? null : costUsd - (before.costUsd ?? 0),
    tokens:
      tokens === null
        ? null
        : {
            input: tokens.input - earlier.input,
            output: tokens.output - earlier.output,
            cacheRead: tokens.cacheRead - earlier.cacheRead,
            cacheWrite: tokens.cacheWrite - earlier.cacheWrite,
          },
  }
}
