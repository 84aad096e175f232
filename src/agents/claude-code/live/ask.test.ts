import { expect, test } from 'vitest'
import type { AgentEvent, Untimed } from '../../../core/event.ts'
import { createTurnCounter } from './ask.ts'

const turn = (id: string, more: object = {}) => ({ type: 'assistant', message: { id, model: 'm' }, ...more })
const call = (id: string): Untimed<AgentEvent> => ({ event: 'tool_call', id, tool: 'Bash' })
const answer = (id: string): Untimed<AgentEvent> => ({ event: 'tool_result', id, output: '' })

test('a turn of several lines is one, and neither a subagent nor the program itself has any', () => {
  const turns = createTurnCounter()
  turns.hear(turn('a'))
  turns.hear(turn('a'))
  turns.hear(turn('b', { parent_tool_use_id: 'tool' }))
  turns.hear({ type: 'assistant', message: { id: 'c', model: '<synthetic>' } })
  turns.hear({ type: 'user', message: { id: 'd' } })
  turns.hear(turn('e', { parent_tool_use_id: null }))
  expect(turns.count()).toBe(2)
  expect(turns.isPassed()).toBe(false)
})

test('the limit is reached without being passed when the last turn asks for nothing', () => {
  const turns = createTurnCounter(1)
  turns.hear(turn('a'))
  expect(turns.isPassed()).toBe(false)
  turns.hear(turn('b'))
  expect(turns.isPassed()).toBe(true)
})

test('it is passed when the last turn has all its results, and not before', () => {
  const turns = createTurnCounter(1)
  turns.hear(turn('a'))
  turns.see(call('one'))
  turns.see(call('two'))
  turns.see({ event: 'tool_result', id: 'inner', output: '', parent_id: 'one' })
  turns.see(answer('one'))
  expect(turns.isPassed()).toBe(false)
  turns.see(answer('two'))
  expect(turns.isPassed()).toBe(true)
})
