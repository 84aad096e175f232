import type { LoopStep } from '../../models/contract.ts'
import type { AgentRequest } from '../contract.ts'
import { passedLimit } from '../limits.ts'
import type { UsageTotal } from '../stream.ts'
import { createUsageMeter } from '../usage-meter.ts'
import { eventOfStep } from './event-of-step.ts'

/** What happens in one run, told as events and as lines of the transcript. */
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
