import type { Untimed, UsageEvent } from '../../core/event.ts'
import type { AgentRequest } from '../contract.ts'
import type { Halt } from '../halt.ts'
import { passedLimit } from '../limits.ts'
import { createUsageMeter, type UsageMeter } from '../usage-meter.ts'

/** What all steps of one play share. */
export interface ScriptPlay {
  readonly request: AgentRequest
  readonly halt: Halt
  readonly meter: UsageMeter
  /** Everything the script started that must be gone at the end. */
  readonly daemons: Promise<unknown>[]
  finalText: string | null
  /** Counts a turn of the model; false when it is one too many and must not be played. */
  beginTurn(): boolean
  nextToolId(): string
  spend(usage: Omit<Untimed<UsageEvent>, 'event'>): void
  /** Writes to the transcript, as the process of an agent would print it. */
  print(text: string): void
}

export function createStage(request: AgentRequest, halt: Halt): ScriptPlay {
  const meter = createUsageMeter()
  const encoder = new TextEncoder()
  let turns = 0
  let tools = 0
  const check = (): boolean => {
    const passed = passedLimit(request, turns, meter.total())
    if (passed !== null) halt.stop(passed)
    return passed === null
  }
  return {
    request,
    halt,
    meter,
    daemons: [],
    finalText: null,
    beginTurn() {
      turns += 1
      return check()
    },
    nextToolId() {
      tools += 1
      return `tool_${tools}`
    },
    spend(usage) {
      const event = { event: 'usage' as const, ...usage }
      request.emit(event)
      meter.add(event)
      check()
    },
    print: (text) => request.transcript(encoder.encode(text)),
  }
}
