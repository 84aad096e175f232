import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type CappedOutput, cappedOutput, cappedText } from './capped-output.ts'
import { type ChildRequest, markVariable } from './child.ts'
import { randomSuffix } from './ids.ts'
import { endTree, hasLeftovers, processTree, rootIsGone, treeIsGone } from './process-tree.ts'
import { type StartedChild, startChild } from './start-child.ts'
import { startFailure } from './start-failure.ts'

// Hand-written instead of execa, which costs 1.6 to 1.9 times a bare spawn and does not end processes that left the process group.

export interface ExecRequest extends ChildRequest {
  readonly timeoutMs?: number
  /** The time counts from when this settles. Default: from the start. */
  readonly timeFrom?: Promise<unknown>
  /** Time between SIGTERM and SIGKILL. Default 2,000. */
  readonly graceMs?: number
  readonly signal?: AbortSignal
  /** How much of each stream is kept: head and tail. Default 1 MiB. */
  readonly maxOutputBytes?: number
  /** Called with every chunk as it arrives, before any cap. A chunk may end inside a character. */
  readonly onStdout?: (chunk: Uint8Array) => void
  readonly onStderr?: (chunk: Uint8Array) => void
}

/** How a process ended. A child that could not be started is a result too, not an exception. */
export interface ExecResult {
  readonly ending: 'exited' | 'signalled' | 'timed_out' | 'aborted' | 'not_started'
  /** null unless `ending` is `exited`. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: CapturedText
  readonly stderr: CapturedText
  readonly durationMs: number
  readonly pid: number | null
  /** Why it could not be started. */
  readonly error: string | null
  /** Remaining processes that could not be ended, such as another user's. Absent when there are none. */
  readonly survivors?: readonly number[]
}

export interface CapturedText {
  /** Head and tail, with a line that counts the bytes cut between them. */
  readonly text: string
  readonly totalBytes: number
  readonly truncated: boolean
}

/** `sh -c`, for commands that users write as one string. */
export function shell(command: string): readonly [string, ...string[]] {
  return ['sh', '-c', command]
}

const defaultGraceMs = 2000
const defaultMaxOutputBytes = 1024 * 1024
/** How long remaining processes may still write, so `>(tee log)` gets its last lines. */
const lingerMs = 100
/** How long the pipes may take to drain after all writers are dead. */
const drainMs = 250
const collectMs = 1000

/**
 * Runs a program in a new session and settles when it and everything it started, also in the background, have ended. Rejects only with
 * an error of a callback, after ending the program.
 */
export async function exec(request: ExecRequest): Promise<ExecResult> {
  let startedAt = performance.now()
  const bornAfterSecs = process.uptime()
  const maxBytes = request.maxOutputBytes ?? defaultMaxOutputBytes
  const [stdout, stderr] = [cappedOutput(maxBytes), cappedOutput(maxBytes)]
  const settle = (ending: ExecResult['ending'], rest: Partial<ExecResult> = {}): ExecResult => ({
    ending,
    exitCode: null,
    signal: null,
    stdout: capturedText(stdout, maxBytes),
    stderr: capturedText(stderr, maxBytes),
    durationMs: performance.now() - startedAt,
    pid: null,
    error: null,
    ...rest,
  })
  if (request.signal?.aborted) return settle('aborted')

  const mark = newMark()
  let started: StartedChild
  try {
    started = await startChild({ ...request, env: { ...request.env, [markVariable]: outerMark + mark } })
  } catch (cause) {
    return settle('not_started', { error: startFailure(request, cause) })
  }
  // Time counts from here, because the spawn server may have had to start first.
  startedAt = performance.now()
  const stop = stopper(request)
  const outputs = [
    followOutput(started.stdout, stdout, stop.guard(request.onStdout)),
    followOutput(started.stderr, stderr, stop.guard(request.onStderr)),
  ]
  const { exit, pid } = started
  if (pid === undefined) {
    stop.release()
    const failed = await exit
    await drain(outputs, drainMs)
    started.release(true)
    return settle('not_started', {
      error: startFailure(request, failed.kind === 'failed' ? failed.cause : null),
    })
  }

  const tree = processTree(pid, mark, bornAfterSecs)
  const first = await Promise.race([exit, stop.asked])
  let survivors: readonly number[] = []
  if (first.kind === 'stop') {
    survivors = await endTree(tree, first.why === 'callback' ? 0 : (request.graceMs ?? defaultGraceMs))
  }
  // Only a process stuck in the kernel is not collected by now. Do not wait for it.
  const last = first.kind === 'exit' ? first : await within(exit, collectMs)
  rootIsGone(tree)
  const exited = last?.kind === 'exit' ? last : { code: null, signal: null, at: performance.now() }
  const durationMs = exited.at - startedAt
  stop.release()
  if (first.kind === 'exit') {
    await drain(outputs, lingerMs)
    if (hasLeftovers(tree, durationMs)) survivors = await endTree(tree, 0)
  }
  await drain(outputs, drainMs)
  treeIsGone(tree)
  started.release(survivors.length === 0)
  const thrown = stop.thrown()
  if (thrown !== null) throw thrown.error

  const common = { durationMs, pid, ...(survivors.length > 0 && { survivors }) }
  if (first.kind === 'stop' && first.why !== 'callback')
    return settle(first.why, { ...common, signal: exited.signal })
  return exited.signal === null
    ? settle('exited', { ...common, exitCode: exited.code })
    : settle('signalled', { ...common, signal: exited.signal })
}

interface Stop {
  readonly kind: 'stop'
  readonly why: 'timed_out' | 'aborted' | 'callback'
}

const tickMs = 500

/** Counts only time in which this process could run: a machine that stood still for a while does not end a child that had no turn. */
function startLimit(limitMs: number, then: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const wait = (leftMs: number): void => {
    const stepMs = Math.min(leftMs, tickMs)
    timer = setTimeout(() => (leftMs > stepMs ? wait(leftMs - stepMs) : then()), stepMs)
  }
  if (Number.isFinite(limitMs)) wait(limitMs)
  return () => clearTimeout(timer)
}

/** Everything that can stop the child before it exits by itself. */
function stopper({ timeoutMs = Number.POSITIVE_INFINITY, timeFrom, signal }: ExecRequest) {
  const { promise: asked, resolve } = Promise.withResolvers<Stop>()
  let thrown: { readonly error: unknown } | null = null
  const ask = (why: Stop['why']): void => resolve({ kind: 'stop', why })
  const abort = (): void => ask('aborted')
  // It may have been aborted while the program was starting.
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  let isReleased = false
  let stopLimit = (): void => {}
  const count = (): void => {
    if (!isReleased) stopLimit = startLimit(timeoutMs, () => ask('timed_out'))
  }
  if (timeFrom === undefined) count()
  else void timeFrom.then(count)
  return {
    asked,
    thrown: () => thrown,
    guard:
      (callback: ((chunk: Uint8Array) => void) | undefined) =>
      (chunk: Uint8Array): void => {
        if (callback === undefined || thrown !== null) return
        try {
          callback(chunk)
        } catch (error) {
          thrown = { error }
          ask('callback')
        }
      },
    release: (): void => {
      isReleased = true
      stopLimit()
      signal?.removeEventListener('abort', abort)
    },
  }
}

function capturedText(output: CappedOutput, maxBytes: number): CapturedText {
  return { text: cappedText(output), totalBytes: output.totalBytes, truncated: output.totalBytes > maxBytes }
}

async function within<T>(promise: Promise<T>, waitMs: number): Promise<T | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(resolve, waitMs, null)
  const value = await Promise.race([promise, late])
  clearTimeout(timer)
  return value
}

const outerMark = process.env[markVariable] ?? ''
const markPrefix = `g${randomSuffix(12)}`
let marksMade = 0

function newMark(): string {
  marksMade += 1
  return `${markPrefix}.${marksMade};`
}

type FollowedOutput = ReturnType<typeof followOutput>

/** Reads a child's output stream into a capped buffer. */
function followOutput(stream: Readable, captured: CappedOutput, onChunk: (chunk: Uint8Array) => void) {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  let hasEnded = false
  const end = (): void => {
    hasEnded = true
    resolve()
  }
  stream.on('data', (chunk: Buffer) => {
    captured.push(chunk)
    onChunk(chunk)
  })
  // A read error means that nothing more will come, like an end.
  stream.on('error', end).on('end', end).on('close', end)
  return {
    captured,
    ended,
    get hasEnded() {
      return hasEnded
    },
    discard: () => void stream.destroy(),
  }
}

const extraTurnsMax = 16

/** Waits until the streams end, or for `waitMs` and then while there is data, up to a limit. */
async function drain(outputs: readonly FollowedOutput[], waitMs: number): Promise<void> {
  const haveEnded = (): boolean => outputs.every(({ hasEnded }) => hasEnded)
  if (haveEnded()) return
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, waitMs)
  await Promise.race([late, Promise.all(outputs.map(({ ended }) => ended))])
  clearTimeout(timer)
  // When the loop was busy, the timer fires before the pipes were read.
  for (let turn = 0, before = -1; turn < extraTurnsMax && !haveEnded(); turn++) {
    const read = outputs.reduce((sum, { captured }) => sum + captured.totalBytes, 0)
    if (read === before) return
    before = read
    await nextTurn()
  }
}
