import { expect, test } from 'vitest'
import { foldTranscript } from './attempt-log.ts'

test('an answer contains its text and its calls, and a result ends it', () => {
  const fold = foldTranscript()
  fold.say({ role: 'user', content: 'Do it.' }, 1)
  fold.add({ event: 'message', role: 'thinking', text: 'hm' }, 2)
  fold.add({ event: 'message', role: 'assistant', text: 'I will.' }, 2)
  fold.add({ event: 'tool_call', id: 'a', tool: 'Read', input: { file_path: 'x' } }, 2)
  fold.add({ event: 'tool_call', id: 'b', tool: 'Glob', input: {} }, 2)
  fold.add({ event: 'tool_result', id: 'a', output: 'text', is_error: false }, 3)
  fold.add({ event: 'tool_result', id: 'b', output: 'none' }, 3)
  fold.add({ event: 'tool_call', id: 'c', tool: 'Skill', input: {} }, 4)
  fold.add({ event: 'tool_result', id: 'c', output: 'x' }, 5)
  fold.add({ event: 'message', role: 'assistant', text: 'Done.' }, 6)
  const events = fold.events()
  expect(events.map(({ type }) => type)).toEqual([
    'user',
    'assistant',
    'tool_result',
    'tool_result',
    'assistant',
    'tool_result',
    'assistant',
  ])
  expect(events[1]).toMatchObject({
    edit: {
      message: {
        content: 'I will.',
        tool_calls: [
          { id: 'a', name: 'Read', input: { file_path: 'x' } },
          { id: 'b', name: 'Glob' },
        ],
      },
    },
  })
  expect(events[2]).toMatchObject({ tool_use_id: 'a', result: 'text', is_error: false })
  expect(events[3]).not.toHaveProperty('is_error')
  expect(fold.turns()).toBe(3)
  for (const { id } of events) expect(id).toMatch(/^evt_\d+_[a-z0-9]{6}$/)
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
})

test('messages of a subagent are its own and do not count as turns', () => {
  const fold = foldTranscript()
  fold.say({ role: 'user', content: 'Review.' }, 1)
  fold.add({ event: 'tool_call', id: 'task', tool: 'Agent', input: {} }, 1)
  fold.add({ event: 'message', role: 'user', text: 'look', parent_id: 'task' }, 1)
  fold.add({ event: 'tool_call', id: 'in', tool: 'Read', input: {}, parent_id: 'task' }, 2)
  fold.add({ event: 'tool_result', id: 'in', output: 'x', parent_id: 'task' }, 2)
  fold.add({ event: 'tool_result', id: 'task', output: 'fine' }, 3)
  fold.add({ event: 'message', role: 'assistant', text: 'Fine.' }, 4)
  expect(
    fold
      .events()
      .map((event) => [event.type, 'parent_tool_use_id' in event ? event.parent_tool_use_id : null]),
  ).toEqual([
    ['user', null],
    ['assistant', null],
    ['user', 'task'],
    ['assistant', 'task'],
    ['tool_result', 'task'],
    ['tool_result', null],
    ['assistant', null],
  ])
  expect(fold.turns()).toBe(2)
})

test('setup messages do not count as turns', () => {
  const fold = foldTranscript()
  fold.say({ role: 'user', content: 'a' }, 1)
  fold.say({ role: 'assistant', content: 'b' }, 1)
  fold.say({ role: 'user', content: 'c' }, 1)
  fold.add({ event: 'message', role: 'assistant', text: 'd' }, 2)
  expect(fold.turns()).toBe(1)
  expect(fold.events()).toHaveLength(4)
})
