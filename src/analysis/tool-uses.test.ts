import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GantryEvent } from '../core/event.ts'
import type { ToolUse } from './contract.ts'
import { foldToolUses } from './tool-uses.ts'

test('joins a call and its result by id, in any order', () => {
  const uses = fold([
    { event: 'tool_call', ts: 1, id: 'a', tool: 'Bash', command: 'tool one', input: { command: 'tool one' } },
    { event: 'tool_call', ts: 2, id: 'b', tool: 'Bash', command: 'tool two' },
    { event: 'tool_result', ts: 3, id: 'b', output: 'two', exit_code: 2, is_error: true },
    { event: 'tool_result', ts: 4, id: 'a', output: 'one', exit_code: 0 },
  ])
  expect(uses).toEqual([
    { tool: 'Bash', ts: 1, command: 'tool one', input: { command: 'tool one' }, output: 'one', exitCode: 0 },
    { tool: 'Bash', ts: 2, command: 'tool two', output: 'two', exitCode: 2, isError: true },
  ])
})

test('without ids a result belongs to the oldest open call', () => {
  const uses = fold([
    { event: 'tool_call', ts: 1, tool: 'A' },
    { event: 'tool_call', ts: 2, tool: 'B' },
    { event: 'tool_result', ts: 3, output: 'of a' },
    { event: 'tool_result', ts: 4, output: 'of b' },
  ])
  expect(uses.map(({ tool, output }) => [tool, output])).toEqual([
    ['A', 'of a'],
    ['B', 'of b'],
  ])
})

test('an id on only one side falls back to the order', () => {
  const uses = fold([
    { event: 'tool_call', ts: 1, tool: 'A', id: 'x' },
    { event: 'tool_result', ts: 2, output: 'of a' },
    { event: 'tool_call', ts: 3, tool: 'B' },
    { event: 'tool_result', ts: 4, id: 'y', output: 'of b' },
  ])
  expect(uses.map(({ output }) => output)).toEqual(['of a', 'of b'])
})

test('a subagent without ids does not take the result of its parent', () => {
  const uses = fold([
    { event: 'tool_call', ts: 1, tool: 'Task' },
    { event: 'tool_call', ts: 2, tool: 'Bash', parent_id: 'task' },
    { event: 'tool_result', ts: 3, output: 'inner', parent_id: 'task' },
    { event: 'tool_result', ts: 4, output: 'outer' },
  ])
  expect(uses.map(({ tool, output }) => [tool, output])).toEqual([
    ['Task', 'outer'],
    ['Bash', 'inner'],
  ])
})

test('a call without a result is kept, and its end is unknown', () => {
  const [use] = fold([{ event: 'tool_call', ts: 1, id: 'a', tool: 'Bash', command: 'sleep 1' }])
  expect(use).toEqual({ tool: 'Bash', ts: 1, command: 'sleep 1' })
})

test('a result without a call is kept as a use of an unknown tool', () => {
  const uses = fold([
    { event: 'tool_call', ts: 1, id: 'a', tool: 'Bash' },
    { event: 'tool_result', ts: 2, id: 'other', output: 'lost', exit_code: 1 },
  ])
  expect(uses).toEqual([
    { tool: 'Bash', ts: 1 },
    { tool: 'unknown', ts: 2, output: 'lost', exitCode: 1 },
  ])
})

test('a second result of the same id completes the first and makes no further use', () => {
  const uses = fold([
    { event: 'tool_call', ts: 1, id: 'a', tool: 'Bash' },
    { event: 'tool_result', ts: 2, id: 'a', output: 'part', exit_code: 3 },
    { event: 'tool_result', ts: 3, id: 'a', output: 'whole' },
  ])
  expect(uses).toEqual([{ tool: 'Bash', ts: 1, output: 'whole', exitCode: 3 }])
})

test('a reused id belongs to the newest call', () => {
  const uses = fold([
    { event: 'tool_call', ts: 1, id: 'a', tool: 'A' },
    { event: 'tool_result', ts: 2, id: 'a', output: 'first' },
    { event: 'tool_call', ts: 3, id: 'a', tool: 'B' },
    { event: 'tool_result', ts: 4, id: 'a', output: 'second' },
  ])
  expect(uses.map(({ tool, output }) => [tool, output])).toEqual([
    ['A', 'first'],
    ['B', 'second'],
  ])
})

test('other events change nothing, and an earlier answer is not changed by later events', () => {
  const folding = foldToolUses()
  folding.add({ event: 'message', ts: 1, role: 'assistant', text: 'hi' })
  folding.add({ event: 'tool_call', ts: 2, tool: 'A' })
  const early = folding.finish()
  folding.add({ event: 'tool_result', ts: 3, output: 'x' })
  expect(early).toEqual([{ tool: 'A', ts: 2 }])
  expect(folding.finish()).toHaveLength(1)
})

test('no event is lost: calls are in order, and every result is in exactly one use', () => {
  const id = fc.option(fc.constantFrom('a', 'b', 'c'), { nil: undefined })
  const event = fc.oneof(
    id.map((id): GantryEvent => ({ event: 'tool_call', ts: 0, tool: 'T', ...(id && { id }) })),
    id.map((id): GantryEvent => ({ event: 'tool_result', ts: 0, output: 'o', ...(id && { id }) })),
  )
  fc.assert(
    fc.property(fc.array(event), (events) => {
      const uses = fold(events)
      const calls = events.filter((each) => each.event === 'tool_call').length
      const results = events.length - calls
      expect(uses.filter((use) => use.tool === 'T')).toHaveLength(calls)
      expect(uses.length).toBeLessThanOrEqual(calls + results)
      if (results === 0) expect(uses.every((use) => use.output === undefined)).toBe(true)
    }),
  )
})

function fold(events: readonly GantryEvent[]): readonly ToolUse[] {
  const folding = foldToolUses()
  for (const event of events) folding.add(event)
  return folding.finish()
}
