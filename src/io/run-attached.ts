import { type ChildProcess, spawn } from 'node:child_process'
import { GantryError } from '../core/error.ts'
import { Interruption } from './interruption.ts'
import { startFailure } from './start-failure.ts'

export interface AttachedRequest {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Where its standard output goes: stdout, or stderr when stdout is used for something else. */
  readonly output: 'stdout' | 'stderr'
  /** Forwards signals that only this process received. Ctrl-C reaches the program directly through the terminal. */
  readonly signal: AbortSignal
  /** Time between SIGTERM and SIGKILL, and half of the time between a Ctrl-C and SIGTERM. Default 5,000. */
  readonly graceMs?: number
}

export interface AttachedEnd {
  /** null when a signal ended it. */
  readonly exitCode: number | null
  readonly signal: string | null
}

/** Runs a program in the foreground, on this process's terminal and pipes, like a shell. Throws when it cannot be started. */
export function runAttached(request: AttachedRequest): Promise<AttachedEnd> {
  const { argv, cwd, env, output, signal, graceMs = 5_000 } = request
  const [file, ...args] = argv
  return new Promise((settle, fail) => {
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: ['inherit', output === 'stderr' ? 2 : 'inherit', 'inherit'],
    })
    const release = endWith(child, signal, graceMs)
    child.once('error', (cause) => {
      release()
      fail(
        new GantryError('NOT_FOUND', startFailure({ argv, cwd, env }, cause), {
          hint: 'After -- name the program to run, with its arguments.',
          cause,
        }),
      )
    })
    child.once('exit', (exitCode, ended) => {
      release()
      settle({ exitCode, signal: ended })
    })
  })
}

/** SIGTERM first, then SIGKILL. SIGTERM at once when this process exits. */
function endWith(child: ChildProcess, signal: AbortSignal, graceMs: number): () => void {
  let next: NodeJS.Timeout | undefined
  const terminate = (): void => void child.kill('SIGTERM')
  const end = (): void => {
    terminate()
    next = setTimeout(() => child.kill('SIGKILL'), graceMs)
  }
  const stop = (): void => {
    // A terminal sends Ctrl-C to the program too. A second signal would cut off how it ends.
    const isCtrlC = signal.reason instanceof Interruption && signal.reason.signal === 'SIGINT'
    if (isCtrlC) next = setTimeout(end, 2 * graceMs)
    else end()
  }
  process.once('exit', terminate)
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  return () => {
    process.off('exit', terminate)
    signal.removeEventListener('abort', stop)
    clearTimeout(next)
  }
}
