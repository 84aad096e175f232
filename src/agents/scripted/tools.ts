import { defined } from '../../core/json-fields.ts'
import { deleteFileInside, type InsideChange, writeTextInside } from '../../io/change-inside.ts'
import { type ExecResult, exec, shell } from '../../io/exec.ts'
import { readTextInside } from '../../io/files.ts'
import { execShell } from '../exec-shell.ts'
import { stopNote } from '../stop-note.ts'
import { whyUnreadable } from '../why-unreadable.ts'
import type { ScriptPlay } from './script-play.ts'

export interface ScriptedToolUse {
  readonly tool: string
  readonly command?: string | undefined
  readonly input: unknown
  /** Performs the action. Its result is what the agent reports. */
  perform(): Promise<ScriptedToolResult> | ScriptedToolResult
}

export interface ScriptedToolResult {
  readonly output: string
  readonly exitCode?: number | undefined
  readonly isError?: boolean | undefined
  readonly durationMs?: number | undefined
}

/** One use of a tool with its two events. A hook that denies it prevents it. */
export async function useTool(play: ScriptPlay, { tool, command, input, perform }: ScriptedToolUse) {
  const { emit, hooks } = play.request
  const id = play.nextToolId()
  emit(defined({ event: 'tool_call' as const, id, tool, command, input }))
  const decision = await play.halt.race(hooks?.beforeTool?.({ id, tool, input }))
  if (play.halt.cause() !== null) return
  if (decision?.kind === 'deny') {
    emit({ event: 'tool_result', id, output: decision.reason, is_error: true })
    play.print(`${tool} was denied: ${decision.reason}\n`)
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
  const context = await play.halt.race(
    hooks?.afterTool?.({
      id,
      tool,
      input,
      output,
      ...defined({ exitCode, isError }),
    }),
  )
  if (context) play.print(`${context}\n`)
}

export function writeFile(workspace: string, path: string, content: string): ScriptedToolResult {
  return answer(writeTextInside(workspace, path, content), `Wrote ${path}.`)
}

export function readFile(workspace: string, path: string): ScriptedToolResult {
  const file = readTextInside(workspace, path)
  return file.kind === 'text' ? { output: file.text } : { output: whyUnreadable(path, file), isError: true }
}

export function deleteFile(workspace: string, path: string): ScriptedToolResult {
  return answer(deleteFileInside(workspace, path), `Deleted ${path}.`)
}

/** Like the tool of a real agent: it refuses to choose between several places. */
export function editFile(
  workspace: string,
  path: string,
  old: string,
  replacement: string,
): ScriptedToolResult {
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

function answer(change: InsideChange, success: string): ScriptedToolResult {
  return change.kind === 'done' ? { output: success } : { output: change.reason, isError: true }
}

/** Runs a command of the script as a coding agent would: in the workspace, with its output for agent and transcript. */
export async function runCommand(
  play: ScriptPlay,
  command: string,
  timeoutMs: number | null,
): Promise<ScriptedToolResult> {
  play.print(`$ ${command}\n`)
  const { transcript, sandbox } = play.request
  const result = await execShell(sandbox, command, {
    ...surroundings(play),
    onStdout: transcript,
    onStderr: transcript,
    ...(timeoutMs === null ? {} : { timeoutMs }),
  })
  const output = result.stdout.text + result.stderr.text
  const note = stopNote(result, `${timeoutMs} ms`)
  return {
    output: output + (note === '' ? '' : `${note}\n`),
    exitCode: result.exitCode ?? undefined,
    isError: result.exitCode !== 0,
    durationMs: result.durationMs,
  }
}

/** A real death: processes, signals and core files are the same as with a real agent. */
export async function dieBySignal(play: ScriptPlay, signal: string): Promise<void> {
  await exec({ ...surroundings(play), argv: shell(`ulimit -c 0; kill -${signal.slice(3)} $$`) })
}

/** Waits until the agent is stopped; true when the process was killed from outside. */
export async function hang(play: ScriptPlay, ignoreSigterm: boolean): Promise<boolean> {
  const trap = ignoreSigterm ? "trap '' TERM; " : ''
  const { ending } = await exec({ ...surroundings(play), argv: shell(`${trap}while :; do sleep 1000; done`) })
  return ending === 'signalled'
}

/** The daemon leaves its process group, session and parent; the shell that started it stays until the agent ends. */
export function leaveDaemon(play: ScriptPlay, command: string, until: AbortSignal): Promise<ExecResult> {
  const start = '(setsid sh -c "$1" >/dev/null 2>&1 </dev/null &); while :; do sleep 1000; done'
  const { request } = play
  return exec({
    argv: ['sh', '-c', start, 'sh', command],
    cwd: request.workspace,
    env: request.env,
    signal: until,
  })
}

function surroundings({ request, halt }: ScriptPlay) {
  return { cwd: request.workspace, env: request.env, signal: halt.signal }
}
