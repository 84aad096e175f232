import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers'
import { inspect } from 'node:util'
import { formatDuration } from '../core/duration.ts'

/** What code of the user did besides throwing: ended the process, left an error unhandled, never finished. */
export class OwnCodeFault extends Error {
  override readonly name = 'OwnCodeFault'
  /** Of `process.exit`; null for another fault. */
  readonly exitCode: number | null

  constructor(
    message: string,
    { exitCode = null, cause }: { exitCode?: number | null; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.exitCode = exitCode
  }
}

interface Owner {
  /** For messages: `the agent mine`. */
  readonly name: string
  readonly fail: (fault: OwnCodeFault) => void
}

/** The part of the user that the running code belongs to, through timers, promises and callbacks. */
const owners = new AsyncLocalStorage<Owner>()

/** Those that have not settled. */
const running = new Set<Owner>()

/**
 * Runs code of the user in this process. Rejects with what it throws, and with an OwnCodeFault when it calls `process.exit`, leaves an
 * error unhandled in a timer or promise, or does not settle within the limit. Its signal is aborted then, and when `signal` is. An error
 * that comes after it has settled is a warning. None of them ends the process.
 */
export async function runOwnCode<T>(
  name: string,
  act: (signal: AbortSignal) => T | Promise<T>,
  { signal, limitMs }: { readonly signal?: AbortSignal; readonly limitMs?: number } = {},
): Promise<T> {
  watchProcess()
  const controller = new AbortController()
  const { promise: failed, reject } = Promise.withResolvers<never>()
  // Listeners of the user for its signal belong to the user too.
  const stop = (): void => owners.run(owner, () => controller.abort(signal?.reason))
  const owner: Owner = {
    name,
    fail(fault) {
      reject(fault)
      stop()
    },
  }
  const late = (): void =>
    owner.fail(new OwnCodeFault(`did not finish within ${formatDuration(limitMs ?? 0)}`))
  // It does not keep the process alive: when nothing else does, the code cannot finish, and `beforeExit` reports it at once.
  const timer = limitMs === undefined ? undefined : setTimeout(late, limitMs).unref()
  signal?.addEventListener('abort', stop)
  if (signal?.aborted === true) stop()
  running.add(owner)
  try {
    const result = await Promise.race([owners.run(owner, async () => act(controller.signal)), failed])
    // Node reports a rejected promise without a handler only after every job of the current turn.
    await Promise.race([new Promise((next) => setImmediate(next)), failed])
    return result
  } finally {
    running.delete(owner)
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

/** What the code did, as the end of a sentence: `threw TypeError: x is not a function`. */
export function faultOf(cause: unknown): string {
  return cause instanceof OwnCodeFault ? cause.message : `threw ${describe(cause)}`
}

function describe(cause: unknown): string {
  if (cause instanceof Error) return `${cause.name}: ${cause.message}`
  return typeof cause === 'string' ? cause : inspect(cause)
}

let isWatching = false

/** Stays for the rest of the process, because a timer of the user may fire at any time. */
function watchProcess(): void {
  if (isWatching) return
  isWatching = true
  process.on('uncaughtException', (error) => {
    if (attribute(error) || process.listenerCount('uncaughtException') > 1) return
    process.stderr.write(`${inspect(error)}\n`)
    exit(1)
  })
  process.on('unhandledRejection', (reason) => {
    if (!attribute(reason) && process.listenerCount('unhandledRejection') === 1) throw reason
  })
  process.on('beforeExit', () => {
    for (const owner of running)
      owner.fail(new OwnCodeFault('never finishes: nothing that it waits for is left'))
  })
  const exit = process.exit.bind(process)
  process.exit = (code) => {
    if (owners.getStore() === undefined) return exit(code)
    const exitCode = Number(code ?? process.exitCode ?? 0)
    const fault = new OwnCodeFault(`called process.exit(${code ?? ''})`, { exitCode })
    attribute(fault)
    throw fault
  }
}

/** Whether the error belongs to code of the user; it is reported then. */
function attribute(error: unknown): boolean {
  const owner = owners.getStore()
  if (owner === undefined) return false
  const fault =
    error instanceof OwnCodeFault
      ? error
      : new OwnCodeFault(`left an error unhandled: ${describe(error)}`, { cause: error })
  if (running.has(owner)) owner.fail(fault)
  else if (!reported.has(fault)) process.stderr.write(`warning: ${owner.name} ${fault.message}\n`)
  reported.add(fault)
  return true
}

/** `process.exit` throws its fault, which may come back as an uncaught exception. */
const reported = new WeakSet<OwnCodeFault>()

/** How long open timers, sockets and files of the user may keep the process alive after the command has ended. */
const graceMs = 1_000

/** Ends the process with its exit code although code of the user left something open. Does nothing when no such code has run. */
export function exitDespiteOwnCode(): void {
  if (!isWatching) return
  const check = (): void => {
    // On some systems a slow reader of a pipe gets the rest of the output only later.
    if (process.stdout.writableLength + process.stderr.writableLength > 0) {
      setTimeout(check, graceMs).unref()
      return
    }
    process.stderr.write(
      'warning: a module of yours left timers, sockets or files open; Gantry ends without waiting for them\n',
    )
    process.exit()
  }
  setTimeout(check, graceMs).unref()
}
