import { builtinToolCall } from '../../agents/builtin/hooks.ts'
import type { AgentHooks, AgentOutcome } from '../../agents/contract.ts'
import { scriptedToolCall } from '../../agents/scripted/hooks.ts'
import { asObject, asString, defined } from '../../core/json-fields.ts'
import { guardHooks } from '../../guard-engine/guard-hooks.ts'
import { runLinkedAgent } from '../../model-link/run-linked-agent.ts'
import type { EventRecorder } from '../../store/event-recorder.ts'
import type { PlanWork } from './open-plan-work.ts'

export interface TaskTurn {
  readonly prompt: string
  readonly iteration: number
  readonly attempt: number
  readonly maxCostUsd?: number
  readonly recorder: EventRecorder
}

/** Runs a new agent, which knows only the prompt, in the real tree. */
export function runAgentOnTask(work: PlanWork, turn: TaskTurn): Promise<AgentOutcome> {
  const { agent, modelLink, prices, redaction, request } = work.prepared
  const { prompt, recorder, iteration, maxCostUsd } = turn
  const hooks = hooksOf(work, iteration)
  return runLinkedAgent({
    driver: agent.driver,
    modelLink:
      modelLink === null
        ? null
        : { model: modelLink, boundary: work.boundary, cassette: work.run.dir, faults: null },
    meter: agent.meter,
    prompt,
    workspace: request.root,
    places: { home: work.home, tmp: work.tmp },
    model: request.model,
    env: { ...work.env, GANTRY_ATTEMPT: String(turn.attempt) },
    timeoutMs: request.timeoutMs,
    ...(maxCostUsd !== undefined && { maxCostUsd }),
    prices,
    redact: redaction.text,
    facts: { agent: agent.name, driver: agent.driver.name, model: request.model },
    signal: work.signal,
    emit: (event) => {
      recorder.emit(event)
      if (event.event !== 'tool_call') return
      const { tool, command } = event
      const path = pathIn(event.input)
      work.step(defined({ kind: 'tool_used', iteration, tool, command, path }))
    },
    transcript: recorder.transcript,
    ...(hooks !== null && { hooks }),
  })
}

function pathIn(input: unknown): string | undefined {
  const fields = asObject(input)
  return asString(fields?.file_path) ?? asString(fields?.path)
}

/** Every iteration is a separate session in the ledger. */
function hooksOf({ guard, prepared, run, step }: PlanWork, iteration: number): AgentHooks | null {
  if (guard === null) return null
  return guardHooks({
    guard,
    agent: 'builtin',
    session: `${run.id}-${iteration}`,
    root: prepared.request.root,
    toToolCall: prepared.agent.driver.name === 'scripted' ? scriptedToolCall : builtinToolCall,
    onNotice: (message) => step({ kind: 'note', level: 'info', message }),
  })
}
