import { type ExecResult, exec, shell } from '../../io/exec.ts'
import type { Stage } from './stage.ts'
import type { ToolAnswer } from './use-tool.ts'

/** Runs a command of the script as a coding agent would: in the workspace, its output seen by agent and transcript. */
export async function runCommand(
  stage: Stage,
  command: string,
  timeoutMs: number | null,
): Promise<ToolAnswer> {
  stage.print(`$ ${command}\n`)
  const { transcript } = stage.request
  const result = await exec({
    ...surroundings(stage),
    argv: shell(command),
    onStdout: transcript,
    onStderr: transcript,
    ...(timeoutMs === null ? {} : { timeoutMs }),
  })
  const output = result.stdout.text + result.stderr.text
  return {
    output: output + noteOn(result, timeoutMs),
    exitCode: result.exitCode ?? undefined,
    isError: result.exitCode !== 0,
    durationMs: result.durationMs,
  }
}

/** A real death: what looks at processes, signals and core files meets the same thing as with a real agent. */
export async function dieBySignal(stage: Stage, signal: string): Promise<void> {
  await exec({ ...surroundings(stage), argv: shell(`ulimit -c 0; kill -${signal.slice(3)} $$`) })
}

/** Until the agent is stopped; true when the process was killed by someone else. */
export async function hang(stage: Stage, ignoreSigterm: boolean): Promise<boolean> {
  const trap = ignoreSigterm ? "trap '' TERM; " : ''
  const { ending } = await exec({
    ...surroundings(stage),
    argv: shell(`${trap}while :; do sleep 1000; done`),
  })
  return ending === 'signalled'
}

/** The daemon leaves its process group, session and parent; the shell that started it stays until the agent ends. */
export function leaveDaemon(stage: Stage, command: string, until: AbortSignal): Promise<ExecResult> {
  const start = '(setsid sh -c "$1" >/dev/null 2>&1 </dev/null &); while :; do sleep 1000; done'
  const { request } = stage
  return exec({
    argv: ['sh', '-c', start, 'sh', command],
    cwd: request.workspace,
    env: request.env,
    signal: until,
  })
}

function surroundings({ request, halt }: Stage) {
  return { cwd: request.workspace, env: request.env, signal: halt.signal }
}

function noteOn({ ending, signal, error }: ExecResult, timeoutMs: number | null): string {
  switch (ending) {
    case 'exited':
      return ''
    case 'signalled':
      return `[killed by ${signal}]\n`
    case 'timed_out':
      return `[stopped after ${timeoutMs} ms]\n`
    case 'aborted':
      return '[stopped]\n'
    case 'not_started':
      return `[not started: ${error}]\n`
  }
}
