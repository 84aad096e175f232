import { defined } from '../../core/json-fields.ts'
import { type Change, deleteFileInside, writeTextInside } from '../../io/change-inside.ts'
import { type ExecResult, exec, shell } from '../../io/exec.ts'
import { readTextInside } from '../../io/files.ts'
import { whyUnreadable } from '../why-unreadable.ts'
import type { Stage } from './stage.ts'

export interface ToolUse {
  readonly tool: string
  readonly command?: string | undefined
  readonly input: unknown
  /** Does it. What it answers is what the agent reports. */
  perform(): Promise<ToolAnswer> | ToolAnswer
}

export interface ToolAnswer {
  readonly output: string
  readonly exitCode?: number | undefined
  readonly isError?: boolean | undefined
  readonly durationMs?: number | undefined
}

/** One use of a tool with its two events. A hook that denies it keeps it from being performed. */
export async function useTool(stage: Stage, { tool, command, input, perform }: ToolUse): Promise<void> {
  const { emit, hooks } = stage.request
  const id = stage.nextToolId()
  emit(defined({ event: 'tool_call' as const, id, tool, command, input }))
  const decision = await stage.halt.race(hooks?.beforeTool?.({ id, tool, input }))
  if (stage.halt.cause() !== null) return
  if (decision?.kind === 'deny') {
    emit({ event: 'tool_result', id, output: decision.reason, is_error: true })
    stage.print(`${tool} was denied: ${decision.reason}\n`)
    return
  }
  const { output, exitCode, isError, durationMs } = await perform()
  emit(
    defined({
      event: 'tool_result' as const,
      id,
      output,
      exit_code: exitCode,
      is_error: isError,
      duration_secs: durationMs === undefined ? undefined : durationMs / 1_000,
    }),
  )
  const told = await stage.halt.race(
    hooks?.afterTool?.({
      id,
      tool,
      input,
      output,
      ...(exitCode !== undefined && { exitCode }),
      ...(isError !== undefined && { isError }),
    }),
  )
  if (told) stage.print(`${told}\n`)
}

export function writeFile(workspace: string, path: string, content: string): ToolAnswer {
  return answer(writeTextInside(workspace, path, content), `Wrote ${path}.`)
}

export function readFile(workspace: string, path: string): ToolAnswer {
  const file = readTextInside(workspace, path)
  return file.kind === 'text' ? { output: file.text } : { output: whyUnreadable(path, file), isError: true }
}

export function deleteFile(workspace: string, path: string): ToolAnswer {
  return answer(deleteFileInside(workspace, path), `Deleted ${path}.`)
}

/** Like the tool of a real agent: it refuses to guess which of several places is meant. */
export function editFile(workspace: string, path: string, old: string, replacement: string): ToolAnswer {
  const file = readTextInside(workspace, path)
  if (file.kind !== 'text') return { output: whyUnreadable(path, file), isError: true }
  const count = file.text.split(old).length - 1
  if (count !== 1) {
    const output =
      count === 0 ? `The text was not found in ${path}.` : `The text occurs ${count} times in ${path}.`
    return { output, isError: true }
  }
  const text = file.text.replace(old, () => replacement)
  return answer(writeTextInside(workspace, path, text), `Edited ${path}.`)
}

function answer(change: Change, success: string): ToolAnswer {
  return change.kind === 'done' ? { output: success } : { output: change.reason, isError: true }
}

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
