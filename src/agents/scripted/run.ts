import { parseDuration } from '../../core/duration.ts'
import { asObject, asString, defined } from '../../core/json-fields.ts'
import type { AgentOutcome, AgentRequest, FailureReport } from '../contract.ts'
import { createHalt } from '../halt.ts'
import { notStarted } from '../process/not-started.ts'
import type { Script, ScriptStep, When } from './schema.ts'
import { createStage, type ScriptPlay } from './script-play.ts'
import {
  deleteFile,
  dieBySignal,
  editFile,
  hang,
  leaveDaemon,
  readFile,
  runCommand,
  type ScriptedToolUse,
  useTool,
  writeFile,
} from './tools.ts'

/** Plays the part of the script that matches the request. The caller has emitted `spawn`. */
export async function runScript(
  name: string,
  script: Script,
  path: string,
  request: AgentRequest,
): Promise<AgentOutcome> {
  const started = performance.now()
  const halt = createHalt(request)
  const play = createStage(request, halt)
  const curtain = new AbortController()
  let end: ScriptEnd = null
  try {
    const part = choosePart(script, request)
    if (part === null)
      return notStarted(
        name,
        request,
        `no script in ${path} matches this prompt, and it has no default turns.`,
      )
    request.emit(
      defined({ event: 'session', agent: script.name, model: request.model, agent_version: script.version }),
    )
    end = await playPart(part, play, curtain.signal)
  } finally {
    curtain.abort()
    await Promise.all(play.daemons)
    halt.dispose()
  }
  return close(play, end, performance.now() - started)
}

async function playPart(part: Part, play: ScriptPlay, until: AbortSignal): Promise<ScriptEnd> {
  const { hooks, emit } = play.request
  for (const turns of [part.turns, ...part.on_stop_refused]) {
    for (const step of turns) {
      if (play.halt.cause() !== null) return null
      const end = await playStep(step, play, until)
      if (end !== null) return end
    }
    if (play.halt.cause() !== null) return null
    const decision = await play.halt.race(hooks?.beforeStop?.())
    if (play.halt.cause() !== null) return null
    if (decision?.kind !== 'refuse') return { kind: 'exited', exitCode: 0 }
    emit({ event: 'message', role: 'system', text: decision.reason })
  }
  return { kind: 'exited', exitCode: 0 }
}

function close(play: ScriptPlay, end: ScriptEnd, durationMs: number): AgentOutcome {
  const { ending, exitCode, failure } = endOf(play, end)
  play.request.emit({ event: 'complete', exit_code: exitCode, duration_secs: durationMs / 1_000, ending })
  return { ending, exitCode, finalText: play.finalText, ...play.meter.total(), failure }
}

function endOf(play: ScriptPlay, end: ScriptEnd): Pick<AgentOutcome, 'ending' | 'exitCode' | 'failure'> {
  const halted = play.halt.cause()
  if (halted !== null) return { ending: halted, exitCode: null, failure: null }
  if (end === null || end.kind === 'crashed') return { ending: 'crashed', exitCode: null, failure: null }
  if (end.kind === 'failed') return { ending: 'exited', exitCode: 1, failure: end.failure }
  return { ending: 'exited', exitCode: end.exitCode, failure: null }
}

interface Part {
  readonly turns: readonly ScriptStep[]
  readonly on_stop_refused: readonly (readonly ScriptStep[])[]
}

/** The first script whose conditions all match, else the default turns; null when there is neither. */
function choosePart(script: Script, request: Pick<AgentRequest, 'prompt' | 'model' | 'env'>): Part | null {
  const fitting = script.scripts.find(({ when }) => fits(when, request))
  if (fitting !== undefined) return fitting
  return script.turns === undefined ? null : { turns: script.turns, on_stop_refused: script.on_stop_refused }
}

function fits(when: When, { prompt, model, env }: Pick<AgentRequest, 'prompt' | 'model' | 'env'>): boolean {
  const name = env.GANTRY_SCENARIO ?? env.LLM_TOOL_TEST_SCENARIO
  // An attempt without a number is the first one.
  const attempt = Number(env.GANTRY_ATTEMPT ?? '1')
  return (
    (when.case === undefined || when.case === name) &&
    (when.attempt === undefined || when.attempt === attempt) &&
    (when.prompt === undefined || when.prompt === prompt) &&
    (when.prompt_contains === undefined || prompt.includes(when.prompt_contains)) &&
    (when.model === undefined || when.model === model)
  )
}

/** A step that ends the agent; null when the next one follows. */
type ScriptEnd =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'crashed' }
  | { readonly kind: 'failed'; readonly failure: FailureReport }
  | null

const overspendIntervalMs = 5

/** Performs one action. `until` ends what outlives the step. */
async function playStep(step: ScriptStep, play: ScriptPlay, until: AbortSignal): Promise<ScriptEnd> {
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

/** Actions that are model answers: they count as turns. */
async function playTurn(step: ScriptStep, play: ScriptPlay, workspace: string, until: AbortSignal) {
  const { say, lie, run, write, edit, read, delete: path, tool, spawn_daemon } = step
  const use = (name: string, input: object, perform: ScriptedToolUse['perform'], command?: string) =>
    useTool(play, { tool: name, command, input, perform })
  if (say !== undefined) return speak(play, say)
  if (lie !== undefined) return speak(play, `I ran \`${lie.claim}\`: it passed with exit code 0.`)
  if (run !== undefined) {
    const timeoutMs = step.timeout === undefined ? null : parseDuration(step.timeout)
    return use('Bash', { command: run }, () => runCommand(play, run, timeoutMs), run)
  }
  if (write !== undefined) {
    const input = { file_path: write.path, content: write.content }
    return use('Write', input, () => writeFile(workspace, write.path, write.content))
  }
  if (edit !== undefined) {
    const input = { file_path: edit.path, old_string: edit.old, new_string: edit.new }
    return use('Edit', input, () => editFile(workspace, edit.path, edit.old, edit.new))
  }
  if (read !== undefined) return use('Read', { file_path: read }, () => readFile(workspace, read))
  if (path !== undefined) return use('Delete', { file_path: path }, () => deleteFile(workspace, path))
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
    return use('Bash', { command: spawn_daemon }, perform, spawn_daemon)
  }
}

function speak(play: ScriptPlay, text: string): void {
  play.finalText = text
  play.request.emit({ event: 'message', role: 'assistant', text })
  play.print(`${text}\n`)
}
