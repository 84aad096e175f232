import type { AgentEnding } from '../../core/event.ts'
import type { AgentOutcome, AgentRequest, FailureReport } from '../contract.ts'
import { createHalt } from '../halt.ts'
import { playStep, type StepEnd } from './play-step.ts'
import type { Script, Step, When } from './schema.ts'
import { createStage, type Stage } from './stage.ts'

/** Plays the part of the script that fits the request. */
export async function runScript(script: Script, path: string, request: AgentRequest): Promise<AgentOutcome> {
  const started = performance.now()
  const halt = createHalt(request)
  const stage = createStage(request, halt)
  const curtain = new AbortController()
  request.emit({ event: 'spawn', command: 'scripted', args: [path] })
  let end: StepEnd = null
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
    end = await playPart(part, stage, curtain.signal)
  } finally {
    curtain.abort()
    await Promise.all(stage.daemons)
    halt.dispose()
  }
  return close(stage, end, performance.now() - started)
}

/** For a script that cannot be played: still a run with a beginning and an end. */
export function refuseToRun(path: string, request: AgentRequest, problem: string): AgentOutcome {
  request.emit({ event: 'spawn', command: 'scripted', args: [path] })
  return neverStarted(request, problem)
}

async function playPart(part: Part, stage: Stage, until: AbortSignal): Promise<StepEnd> {
  const { hooks, emit } = stage.request
  for (const turns of [part.turns, ...part.on_stop_refused]) {
    for (const step of turns) {
      if (stage.halt.cause() !== null) return null
      const end = await playStep(step, stage, until)
      if (end !== null) return end
    }
    if (stage.halt.cause() !== null) return null
    const decision = await stage.halt.race(hooks?.beforeStop?.())
    if (stage.halt.cause() !== null) return null
    if (decision?.kind !== 'refuse') return { kind: 'exited', exitCode: 0 }
    emit({ event: 'message', role: 'system', text: decision.reason })
  }
  return { kind: 'exited', exitCode: 0 }
}

function close(stage: Stage, end: StepEnd, durationMs: number): AgentOutcome {
  const { ending, exitCode, failure } = endOf(stage, end)
  stage.request.emit({ event: 'complete', exit_code: exitCode, duration_secs: durationMs / 1_000, ending })
  return { ending, exitCode, finalText: stage.finalText, ...stage.meter.total(), failure }
}

function endOf(
  stage: Stage,
  end: StepEnd,
): {
  readonly ending: AgentEnding
  readonly exitCode: number | null
  readonly failure: FailureReport | null
} {
  const halted = stage.halt.cause()
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
  readonly turns: readonly Step[]
  readonly on_stop_refused: readonly (readonly Step[])[]
}

/** The first script whose conditions all hold, else the default turns; null when there is nothing to play. */
function choosePart(script: Script, request: Pick<AgentRequest, 'prompt' | 'model' | 'env'>): Part | null {
  const fitting = script.scripts.find(({ when }) => fits(when, request))
  if (fitting !== undefined) return fitting
  return script.turns === undefined ? null : { turns: script.turns, on_stop_refused: script.on_stop_refused }
}

function fits(when: When, { prompt, model, env }: Pick<AgentRequest, 'prompt' | 'model' | 'env'>): boolean {
  const name = env.GANTRY_SCENARIO ?? env.LLM_TOOL_TEST_SCENARIO
  // An attempt nobody numbered is the first one.
  const attempt = Number(env.GANTRY_ATTEMPT ?? '1')
  return (
    (when.case === undefined || when.case === name) &&
    (when.attempt === undefined || when.attempt === attempt) &&
    (when.prompt === undefined || when.prompt === prompt) &&
    (when.prompt_contains === undefined || prompt.includes(when.prompt_contains)) &&
    (when.model === undefined || when.model === model)
  )
}
