import { spawn } from 'node:child_process'

export interface ExecRequest {
  /** Program and arguments; no shell is involved. For a shell command use `shell()`. */
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  /** The child's whole environment. Nothing of ours is added. */
  readonly env: Readonly<Record<string, string>>
  /** Written to the child's stdin, which is then closed. Without it stdin is empty. */
  readonly stdin?: string | Uint8Array
  readonly timeoutMs?: number
  /** Between the soft signal and the hard one. Default 2,000. */
  readonly graceMs?: number
  readonly signal?: AbortSignal
  /** How much of each stream is kept: head and tail. Default 1 MiB. */
  readonly maxOutputBytes?: number
  /** Called with every chunk as it arrives, before any cap. */
  readonly onStdout?: (chunk: Uint8Array) => void
  readonly onStderr?: (chunk: Uint8Array) => void
}

/** How a process ended. A child that could not be started is a value too: it is a finding, not a bug of ours. */
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
}

export interface CapturedText {
  /** Head and tail, with a line that tells how much was cut between them. */
  readonly text: string
  readonly totalBytes: number
  readonly truncated: boolean
}

/** `sh -c`, for commands that users write as one string. */
export function shell(command: string): readonly [string, ...string[]] {
  return ['sh', '-c', command]
}

/**
 * Runs a program in a process group of its own and settles when it is gone with everything it started.
 * Never rejects for what the program does.
 */
export function exec(request: ExecRequest): Promise<ExecResult> {
  const started = performance.now()
  return new Promise((resolve) => {
    const [file, ...args] = request.argv
    const child = spawn(file, args, { cwd: request.cwd, env: request.env, detached: true, stdio: 'pipe' })
    const out: Buffer[] = []
    const err: Buffer[] = []
    let ending: ExecResult['ending'] = 'exited'
    let error: string | null = null
    const stop = (why: 'timed_out' | 'aborted'): void => {
      ending = why
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }
    const timer =
      request.timeoutMs === undefined ? undefined : setTimeout(() => stop('timed_out'), request.timeoutMs)
    request.signal?.addEventListener('abort', () => stop('aborted'))
    child.stdout.on('data', (chunk: Buffer) => {
      out.push(chunk)
      request.onStdout?.(chunk)
    })
    child.stderr.on('data', (chunk: Buffer) => {
      err.push(chunk)
      request.onStderr?.(chunk)
    })
    child.on('error', (cause) => {
      ending = 'not_started'
      error = cause.message
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      if (ending === 'exited' && signal !== null) ending = 'signalled'
      resolve({
        ending,
        exitCode: ending === 'exited' ? code : null,
        signal,
        stdout: captured(out),
        stderr: captured(err),
        durationMs: performance.now() - started,
        pid: child.pid ?? null,
        error,
      })
    })
    child.stdin.on('error', () => {})
    child.stdin.end(request.stdin)
  })
}

function captured(chunks: readonly Buffer[]): CapturedText {
  const whole = Buffer.concat(chunks)
  return { text: whole.toString('utf8'), totalBytes: whole.length, truncated: false }
}
