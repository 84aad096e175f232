import type { AgentEvent, Untimed } from '../../core/event.ts'
import { asObject, asString, defined } from '../../core/json-fields.ts'
import type { LoopStep } from '../../models/contract.ts'

/** A step of the model's loop in the words of the event log. */
export function eventOfStep(step: LoopStep, model: string): Untimed<AgentEvent> {
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
