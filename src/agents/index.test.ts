import { expect, test } from 'vitest'
import { z } from 'zod'
import { agentSchema, createAgent } from './index.ts'
import { scriptSchema } from './scripted/schema.ts'

test.each([
  [{ driver: 'command', command: [] }, /Too small|Invalid/],
  [{ driver: 'command', command: ['x'], prompt: 'argv' }, /needs \{prompt\}/],
  [{ driver: 'command', command: ['x'], prompt: 'file' }, /needs \{prompt_file\}/],
  [{ driver: 'command', command: ['x', '{prompt}'], prompt: 'stdin' }, /twice/],
  [{ driver: 'command', command: ['x'], pty: true }, /terminal/],
  [{ driver: 'command', command: ['x'], output: 'xml' }, /output/],
  [{ driver: 'command', command: ['x'], colour: 'red' }, /colour/],
  [{ driver: 'scripted' }, /script/],
  [{ driver: 'telepathy' }, /driver/],
])('%j is refused', (config, message) => {
  expect(agentSchema.safeParse(config).error?.message).toMatch(message)
})

test('an agent is created from its configuration', () => {
  const place = { base: '/' }
  expect(createAgent('a', agentSchema.parse({ driver: 'command', command: ['x'] }), place).name).toBe(
    'command',
  )
  expect(createAgent('a', agentSchema.parse({ driver: 'scripted', script: 'x' }), place).name).toBe(
    'scripted',
  )
})

test('a script has a JSON Schema', () => {
  expect(z.toJSONSchema(scriptSchema, { io: 'input' })).toMatchObject({
    type: 'object',
    additionalProperties: false,
  })
})

test('every key of every driver is described in the JSON Schema', () => {
  const schema = z.toJSONSchema(agentSchema, { io: 'input' })
  const members = schema.oneOf ?? schema.anyOf ?? []
  expect(members.length).toBe(10)
  for (const { properties } of members) {
    for (const [key, value] of Object.entries(properties ?? {}))
      expect(value, key).toHaveProperty('description')
  }
})
