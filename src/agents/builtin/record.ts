import type { AgentEvent, Untimed } from '../../core/event.ts'
import { asObject, asString, defined } from '../../core/json-fields.ts'
import type { LoopStep } from '../../models/contract.ts'
import type { AgentRequest } from '../contract.ts'
import { passedLimit } from '../limits.ts'
import type { UsageTotal } from '../stream.ts'
import { createUsageMeter } from '../usage-meter.ts'

/** Records one run as events and as lines of the transcript. */
export interface RunRecord {
  begin(prompt: string): void
  readonly step: (step: LoopStep) => void
  refuseStop(reason: string): void
  finalText(): string | null
  usage(): UsageTotal
}

/** `onOverBudget` is called when what the model has cost passes the limit of the request. */
export function createRecord(request: AgentRequest, model: string, onOverBudget: () => void): RunRecord {
  const { emit, transcript } = request
  const meter = createUsageMeter()
  const encoder = new TextEncoder()
  let finalText: string | null = null
  const print = (line: object): void => transcript(encoder.encode(`${JSON.stringify(line)}\n`))
  return {
    begin: (prompt) => print({ kind: 'prompt', model, text: prompt }),
    step: (step) => {
      print(step)
      const event = eventOfStep(step, model)
      emit(event)
      if (step.kind === 'text') finalText = step.text
      if (event.event !== 'usage') return
      meter.add(event)
      if (passedLimit(request, 0, meter.total()) !== null) onOverBudget()
    },
    refuseStop(reason) {
      print({ kind: 'stop_refused', reason })
      emit({ event: 'message', role: 'system', text: reason })
    },
    finalText: () => finalText,
    usage: () => meter.total(),
  }
}

/** A step of the model's loop in the words of the event log. */
function eventOfStep(step: LoopStep, model: string): Untimed<AgentEvent> {
  switch (step.kind) {
    case 'thinking':
      return { event: 'message', role: 'thinking', text: step.text, model }
    case 'text':
      return { event: 'message', role: 'assistant', text: step.text, model }
    case 'usage':
      return defined({
        event: 'usage' as const,
        model: step.model,
        input_tokens: step.tokens.input,
        output_tokens: step.tokens.output,
        cache_read_tokens: step.tokens.cacheRead,
        cache_write_tokens: step.tokens.cacheWrite,
        thinking_tokens: step.tokens.thinking,
        cost_usd: step.costUsd ?? undefined,
      })
    case 'tool_call': {
      const { id, name: tool, input } = step
      const command = tool === 'run' ? asString(asObject(input)?.command) : undefined
      return defined({ event: 'tool_call' as const, id, tool, command, input })
    }
    case 'tool_result':
      return defined({
        event: 'tool_result' as const,
        id: step.id,
        output: step.output,
        exit_code: step.exitCode,
        is_error: step.isError,
        duration_secs: step.durationMs / 1_000,
      })
  }
}
