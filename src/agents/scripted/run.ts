import type { AgentEnding } from '../../core/event.ts'
import type { AgentOutcome, AgentRequest, FailureReport } from '../contract.ts'
import { createHalt } from '../halt.ts'
import { playStep, type ScriptEnd } from './play-step.ts'
import type { Script, ScriptStep, When } from './schema.ts'
import { createStage, type ScriptPlay } from './script-play.ts'

/** Plays the part of the script that fits the request. */
export async function runScript(script: Script, path: string, request: AgentRequest): Promise<AgentOutcome> {
  const started = performance.now()
  const halt = createHalt(request)
  const play = createStage(request, halt)
  const curtain = new AbortController()
  request.emit({ event: 'spawn', command: 'scripted', args: [path] })
  let end: ScriptEnd = null
  try {
    const part = choosePart(script, request)
    if (part === null)
      return neverStarted(request, `No script in ${path} fits this prompt, and it has no default turns.`)
    request.emit({
      event: 'session',
      agent: script.name,
      model: request.model,
      ...(script.version === undefined ? {} : { agent_version: script.version }),
    })
    end = await playPart(part, play, curtain.signal)
  } finally {
    curtain.abort()
    await Promise.all(play.daemons)
    halt.dispose()
  }
  return close(play, end, performance.now() - started)
}

/** For a script that cannot be played: still a run with a beginning and an end. */
export function refuseToRun(path: string, request: AgentRequest, problem: string): AgentOutcome {
  request.emit({ event: 'spawn', command: 'scripted', args: [path] })
  return neverStarted(request, problem)
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

function endOf(
  play: ScriptPlay,
  end: ScriptEnd,
): {
  readonly ending: AgentEnding
  readonly exitCode: number | null
  readonly failure: FailureReport | null
} {
  const halted = play.halt.cause()
  if (halted !== null) return { ending: halted, exitCode: null, failure: null }
  if (end === null || end.kind === 'crashed') return { ending: 'crashed', exitCode: null, failure: null }
  if (end.kind === 'failed') return { ending: 'exited', exitCode: 1, failure: end.failure }
  return { ending: 'exited', exitCode: end.exitCode, failure: null }
}

function neverStarted({ emit, signal }: AgentRequest, problem: string): AgentOutcome {
  const ending = signal.aborted ? 'cancelled' : 'not_started'
  const failure: FailureReport | null =
    ending === 'cancelled' ? null : { reason: 'unavailable', message: problem }
  emit({ event: 'complete', exit_code: null, duration_secs: 0, ending })
  return { ending, exitCode: null, finalText: null, costUsd: null, tokens: null, failure }
}

interface Part {
  readonly turns: readonly ScriptStep[]
  readonly on_stop_refused: readonly (readonly ScriptStep[])[]
}

/** The first script whose conditions all hold, else the default turns; null when there is nothing to play. */
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
