import { expect, test } from 'vitest'
import type { AgentEvent, Untimed } from '../../../core/event.ts'
import { createTurnCounter } from './ask.ts'

const turn = (id: string, more: object = {}) => ({ type: 'assistant', message: { id, model: 'm' }, ...more })
const call = (id: string): Untimed<AgentEvent> => ({ event: 'tool_call', id, tool: 'Bash' })
const answer = (id: string): Untimed<AgentEvent> => ({ event: 'tool_result', id, output: '' })

test('a turn of several lines counts once, and turns of a subagent or of the program itself do not count', () => {
  const turns = createTurnCounter()
  turns.onLine(turn('a'))
  turns.onLine(turn('a'))
  turns.onLine(turn('b', { parent_tool_use_id: 'tool' }))
  turns.onLine({ type: 'assistant', message: { id: 'c', model: '<synthetic>' } })
  turns.onLine({ type: 'user', message: { id: 'd' } })
  turns.onLine(turn('e', { parent_tool_use_id: null }))
  expect(turns.count()).toBe(2)
  expect(turns.isPassed()).toBe(false)
})

test('the limit is reached but not exceeded when the last turn requests no tool', () => {
  const turns = createTurnCounter(1)
  turns.onLine(turn('a'))
  expect(turns.isPassed()).toBe(false)
  turns.onLine(turn('b'))
  expect(turns.isPassed()).toBe(true)
})

test('the limit is exceeded when the last turn has all its results, and not before', () => {
  const turns = createTurnCounter(1)
  turns.onLine(turn('a'))
  turns.see(call('one'))
  turns.see(call('two'))
  turns.see({ event: 'tool_result', id: 'inner', output: '', parent_id: 'one' })
  turns.see(answer('one'))
  expect(turns.isPassed()).toBe(false)
  turns.see(answer('two'))
  expect(turns.isPassed()).toBe(true)
})
