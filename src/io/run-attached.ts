import { type ChildProcess, spawn } from 'node:child_process'
import { GantryError } from '../core/error.ts'
import { startFailure } from './start-failure.ts'

export interface AttachedRequest {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Where its standard output goes: to ours, or to our standard error when ours is wanted for something else. */
  readonly output: 'stdout' | 'stderr'
  /** Ctrl-C reaches the program by itself, as it shares our terminal; this passes on what only our process received. */
  readonly signal: AbortSignal
  /** Between the soft signal and the hard one. Default 5,000. */
  readonly graceMs?: number
}

export interface AttachedEnd {
  /** null when a signal ended it. */
  readonly exitCode: number | null
  readonly signal: string | null
}

/** Runs a program in the foreground, on our own terminal and pipes, as a shell would. Throws when it cannot be started. */
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
          hint: 'What stands behind -- is the program to run, with its arguments.',
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

/** Softly first; a program that does not listen is not waited for without end. */
function endWith(child: ChildProcess, signal: AbortSignal, graceMs: number): () => void {
  let hard: NodeJS.Timeout | undefined
  const stop = (): void => {
    child.kill('SIGTERM')
    hard = setTimeout(() => child.kill('SIGKILL'), graceMs)
  }
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  return () => {
    signal.removeEventListener('abort', stop)
    clearTimeout(hard)
  }
}
