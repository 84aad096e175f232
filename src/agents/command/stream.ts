import { parseObject } from '../../core/json-fields.ts'
import type { FailureReport } from '../contract.ts'
import type { StreamParser } from '../stream.ts'
import { createUsageMeter } from '../usage-meter.ts'
import { readEvent } from './read-event.ts'

/**
 * Events of our own union, one JSON object per line, for agents that are written for Gantry. What is no such event is kept
 * as `raw`; so are `spawn` and `complete`, because only the driver knows when the process began and ended.
 */
export function createStreamParser(): StreamParser {
  const meter = createUsageMeter()
  let turns = 0
  /** A call that follows no message since the last result is an answer of the model of its own. */
  let answerExpected = true
  let finalText: string | null = null
  let failure: FailureReport | null = null
  return {
    push(line) {
      if (line.trim() === '') return []
      const value = parseObject(line)
      const event = value === null ? null : readEvent(value)
      if (event === null) return [{ event: 'raw', line }]
      if (event.event === 'usage') meter.add(event)
      if (event.event === 'error') failure = { reason: event.reason, message: event.message }
      // Going on with the work after an error means having recovered from it.
      if (event.event === 'tool_call' || (event.event === 'message' && event.role === 'assistant')) {
        failure = null
        if (event.parent_id === undefined) {
          if (event.event === 'message' || answerExpected) turns += 1
          if (event.event === 'message') finalText = event.text
          answerExpected = false
        }
      }
      if (event.event === 'tool_result' && event.parent_id === undefined) answerExpected = true
      return [event]
    },
    turns: () => turns,
    usage: meter.total,
    end: () => ({ finalText, failure, ...meter.total() }),
  }
}
