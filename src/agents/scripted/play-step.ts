import { parseDuration } from '../../core/duration.ts'
import { asObject, asString, defined } from '../../core/json-fields.ts'
import type { FailureReport } from '../contract.ts'
import type { ScriptStep } from './schema.ts'
import type { ScriptPlay } from './script-play.ts'
import {
  deleteFile,
  dieBySignal,
  editFile,
  hang,
  leaveDaemon,
  readFile,
  runCommand,
  useTool,
  writeFile,
} from './tools.ts'

/** A step that ends the agent; null when the next one follows. */
export type ScriptEnd =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'crashed' }
  | { readonly kind: 'failed'; readonly failure: FailureReport }
  | null

const overspendIntervalMs = 5

/** Plays one action. `until` ends what outlives the step. */
export async function playStep(step: ScriptStep, play: ScriptPlay, until: AbortSignal): Promise<ScriptEnd> {
  const { workspace, emit } = play.request
  if (step.think !== undefined) {
    emit({ event: 'message', role: 'thinking', text: step.think })
  } else if (step.wait !== undefined) {
    await play.halt.sleep(parseDuration(step.wait) ?? 0)
  } else if (step.usage !== undefined) {
    play.spend(defined(step.usage))
  } else if (step.overspend !== undefined) {
    while (play.halt.cause() === null) {
      play.spend({ input_tokens: 1_000, output_tokens: 100, cost_usd: step.overspend })
      await play.halt.sleep(overspendIntervalMs)
    }
  } else if (step.exit !== undefined) {
    return { kind: 'exited', exitCode: step.exit }
  } else if (step.crash?.exit !== undefined) {
    return { kind: 'exited', exitCode: step.crash.exit }
  } else if (step.crash?.signal !== undefined) {
    await dieBySignal(play, step.crash.signal)
    return { kind: 'crashed' }
  } else if (step.hang !== undefined) {
    if (await hang(play, step.ignore_sigterm ?? false)) return { kind: 'crashed' }
  } else if (step.infra !== undefined) {
    emit({ event: 'error', ...step.infra })
    play.print(`${step.infra.message}\n`)
    return { kind: 'failed', failure: step.infra }
  } else if (play.beginTurn()) {
    await playTurn(step, play, workspace, until)
  }
  return null
}

/** Actions that are an answer of the model: they count as turns. */
async function playTurn(
  step: ScriptStep,
  play: ScriptPlay,
  workspace: string,
  until: AbortSignal,
): Promise<void> {
  const { say, lie, run, write, edit, read, tool, spawn_daemon } = step
  if (say !== undefined) return speak(play, say)
  if (lie !== undefined) return speak(play, `I ran \`${lie.claim}\`: it passed with exit code 0.`)
  if (run !== undefined) {
    const timeoutMs = step.timeout === undefined ? null : parseDuration(step.timeout)
    const perform = () => runCommand(play, run, timeoutMs)
    return useTool(play, { tool: 'Bash', command: run, input: { command: run }, perform })
  }
  if (write !== undefined) {
    const input = { file_path: write.path, content: write.content }
    return useTool(play, {
      tool: 'Write',
      input,
      perform: () => writeFile(workspace, write.path, write.content),
    })
  }
  if (edit !== undefined) {
    const input = { file_path: edit.path, old_string: edit.old, new_string: edit.new }
    const perform = () => editFile(workspace, edit.path, edit.old, edit.new)
    return useTool(play, { tool: 'Edit', input, perform })
  }
  if (read !== undefined) {
    return useTool(play, {
      tool: 'Read',
      input: { file_path: read },
      perform: () => readFile(workspace, read),
    })
  }
  if (step.delete !== undefined) {
    const path = step.delete
    return useTool(play, {
      tool: 'Delete',
      input: { file_path: path },
      perform: () => deleteFile(workspace, path),
    })
  }
  if (tool !== undefined) {
    const command = asString(asObject(tool.input)?.command)
    const perform = () => ({ output: tool.output, exitCode: tool.exit_code, isError: tool.is_error })
    return useTool(play, { tool: tool.name, command, input: tool.input, perform })
  }
  if (spawn_daemon !== undefined) {
    const perform = () => {
      play.daemons.push(leaveDaemon(play, spawn_daemon, until))
      return { output: '', exitCode: 0 }
    }
    return useTool(play, { tool: 'Bash', command: spawn_daemon, input: { command: spawn_daemon }, perform })
  }
}

function speak(play: ScriptPlay, text: string): void {
  play.finalText = text
  play.request.emit({ event: 'message', role: 'assistant', text })
  play.print(`${text}\n`)
}
