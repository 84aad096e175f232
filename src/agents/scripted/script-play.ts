import type { Untimed, UsageEvent } from '../../core/event.ts'
import type { AgentRequest } from '../contract.ts'
import type { Halt } from '../halt.ts'
import { passedLimit } from '../limits.ts'
import { createUsageMeter } from '../stream.ts'

export type ScriptPlay = ReturnType<typeof createStage>

export function createStage(request: AgentRequest, halt: Halt) {
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
    /** Everything that the script started and that must be gone at the end. */
    daemons: [] as Promise<unknown>[],
    finalText: null as string | null,
    /** Counts a turn of the model; false when it exceeds the limit and must not be played. */
    beginTurn(): boolean {
      turns += 1
      return check()
    },
    nextToolId(): string {
      tools += 1
      return `tool_${tools}`
    },
    spend(usage: Omit<Untimed<UsageEvent>, 'event'>): void {
      const event = { event: 'usage' as const, ...usage }
      request.emit(event)
      meter.add(event)
      check()
    },
    print: (text: string): void => request.transcript(encoder.encode(text)),
  }
}
