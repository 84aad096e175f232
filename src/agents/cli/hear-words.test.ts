import { expect, test } from 'vitest'
import type { AgentEvent, Untimed } from '../../core/event.ts'
import { hearWords } from './hear-words.ts'

const raw = (line: string): Untimed<AgentEvent> => ({ event: 'raw', line })
const said: Untimed<AgentEvent> = { event: 'message', role: 'assistant', text: 'hi' }

test.each([
  ['nothing at all', [], 'nothing'],
  ['only lines nobody knows', [raw('garbage'), raw('{"type":"new"}')], 'nothing'],
  ['a last line that is cut', [said, raw('{"type":"text","text":"ab')], 'breaks off'],
])('an agent that exits after %s did not do its work', (_, events, told) => {
  expect(after(events).problem('exited')).toContain(told)
})

test.each([
  ['words', [said]],
  ['words and a line of a newer version', [said, raw('{"type":"new"}')]],
  ['words, a cut line, and more words', [said, raw('{"type":"te'), said]],
  ['words and text that is no JSON', [said, raw('Bye.')]],
])('an agent that exits after %s may have done its work', (_, events) => {
  expect(after(events).problem('exited')).toBeNull()
})

test('who was stopped need not have said anything, nor to its end', () => {
  expect(after([]).problem('timed_out')).toBeNull()
  expect(after([said, raw('{"type":"te')]).problem('crashed')).toBeNull()
})

function after(events: readonly Untimed<AgentEvent>[]) {
  const words = hearWords(() => {})
  for (const event of events) words.emit(event)
  return words
}
