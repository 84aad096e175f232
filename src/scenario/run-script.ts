import { type ExecResult, exec, shell } from '../io/exec.ts'

export interface ScriptPlace {
  readonly workspace: string
  readonly env: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

export interface ScriptResult {
  /** −1 after a timeout, or when a signal ended it or it could not be started. */
  readonly exit_code: number
  readonly stdout: string
  readonly stderr: string
  readonly timed_out: boolean
  /** How it ended, in words, when it did not simply exit. */
  readonly problem: string | null
  readonly duration_ms: number
}

/** A command of the scenario's author: `sh -c` in the workspace, ended with everything it started at its limit. */
export async function runScript(
  command: string,
  timeoutSecs: number,
  place: ScriptPlace,
): Promise<ScriptResult> {
  const result = await exec({
    argv: shell(command),
    cwd: place.workspace,
    env: place.env,
    timeoutMs: timeoutSecs * 1000,
    signal: place.signal,
    maxOutputBytes: 256 * 1024,
  })
  return {
    exit_code: result.exitCode ?? -1,
    stdout: result.stdout.text,
    stderr: result.stderr.text,
    timed_out: result.ending === 'timed_out',
    problem: problemOf(result, timeoutSecs),
    duration_ms: Math.round(result.durationMs),
  }
}

function problemOf(result: ExecResult, timeoutSecs: number): string | null {
  switch (result.ending) {
    case 'exited':
      return null
    case 'timed_out':
      return `stopped at its limit of ${timeoutSecs} s`
    case 'signalled':
      return `ended by ${result.signal}`
    case 'aborted':
      return 'interrupted'
    case 'not_started':
      return `could not be started: ${result.error}`
  }
}
