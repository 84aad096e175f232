import { expect, test } from 'vitest'
import { z } from 'zod'
import { tail } from './excerpt.ts'
import { gateSchema, gates } from './index.ts'

const contractTypes = [
  'command_succeeds',
  'command_output_contains',
  'command_output_matches',
  'command_json_path',
  'file_exists',
  'file_contains',
  'file_matches',
  'no_transcript_errors',
  'script',
]

test('has every gate of the contract and the two additional ones, each once', () => {
  expect(gates.map(({ type }) => type)).toEqual([...contractTypes, 'workspace_delta', 'tool_called'])
})

test('refuses an unknown type and names the known ones', () => {
  const { error } = gateSchema.safeParse({ type: 'file_exist', path: 'a' })
  for (const type of contractTypes) expect(error?.message).toContain(type)
})

test.each([
  { type: 'command_succeeds', command: 'true', comand: 'x' },
  { type: 'file_exists', path: 'a', exist: false },
  { type: 'no_transcript_errors', max: 1 },
  { type: 'command_succeeds', command: 'true', expect_exit: 0 },
])("refuses a key that is not the gate's own: %j", (spec) => {
  expect(gateSchema.safeParse(spec).error?.message).toContain('Unrecognized key')
})

test.each([0, -1, 1e9, '30'])('refuses the time limit %j', (timeout_secs) => {
  expect(gateSchema.safeParse({ type: 'command_succeeds', command: 'true', timeout_secs }).success).toBe(
    false,
  )
})

test('gives commands 30 seconds by default', () => {
  for (const type of ['command_succeeds', 'script'])
    expect(gateSchema.parse({ type, command: 'true', description: 'x' })).toMatchObject({ timeout_secs: 30 })
})

test('every gate and every key has a description in the JSON Schema', () => {
  const { oneOf = [] } = z.toJSONSchema(gateSchema, { io: 'input' })
  expect(oneOf).toHaveLength(gates.length)
  for (const gate of oneOf) {
    expect(gate.description).toBeTruthy()
    for (const [key, value] of Object.entries(gate.properties ?? {}))
      expect([key, typeof value === 'object' && value.description]).toEqual([
        key,
        expect.stringMatching(/\w/),
      ])
  }
})

test('a tail begins at the start of a line', () => {
  const text = Array.from({ length: 1000 }, (_, index) => `line ${index}`).join('\n')
  const [note, first] = tail(text).split('\n')
  expect(note).toMatch(/characters before/)
  expect(first).toMatch(/^line \d+$/)
  expect(tail('x'.repeat(9_000)).length).toBeLessThan(2_100)
  expect(tail('short')).toBe('short')
})
