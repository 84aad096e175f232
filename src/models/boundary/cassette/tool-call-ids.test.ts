import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fillNames, generatedNames, storeNames } from './tool-call-ids.ts'

describe('names that an agent gives to its model', () => {
  test.each([
    ["agentId: a31976debbae39d18 (use SendMessage with to: 'a31976debbae39d18')", 'a31976debbae39d18'],
    ['Command running in background with ID: b7x2k9q. Output is', 'b7x2k9q'],
    ['Process running with session ID 51234', '51234'],
    ['<task-id>bk3j2</task-id>', 'bk3j2'],
    ['{"agent_id":"019a-7f","nickname":"Volta"}', '019a-7f'],
  ])('are found in %s', (text, name) => {
    expect(new Set(generatedNames(text))).toEqual(new Set([name]))
  })

  test.each([
    'the session ID that was given',
    'agentId: {name}',
    '"agent_id":"{uuid:1}"',
    '<task-id>{name}<',
  ])('are not in %s', (text) => {
    expect(generatedNames(text)).toEqual([])
  })
})

const here = new Map([
  ['019a7f00-5f5d-4c3a-9d3e-0a1b2c3d4e5f', '{uuid:1}'],
  ['51234', '{given:1}'],
])
const there = new Map([
  ['77777777-5f5d-4c3a-9d3e-0a1b2c3d4e5f', '{uuid:1}'],
  ['998', '{given:1}'],
])

test('an answer gets the names of another run', () => {
  const stored = storeNames(
    '{"session_id":51234,"to":["019a7f00-5f5d-4c3a-9d3e-0a1b2c3d4e5f"],"n":512345}',
    here,
  )
  expect(stored).toBe('{"session_id":{given:1},"to":["{uuid:1}"],"n":512345}')
  expect(fillNames(stored, there)).toBe(
    '{"session_id":998,"to":["77777777-5f5d-4c3a-9d3e-0a1b2c3d4e5f"],"n":512345}',
  )
})

test('a name that this run does not have stays', () => {
  expect(fillNames('wait for {uuid:2}', there)).toBe('wait for {uuid:2}')
})

test('every stored text is restored exactly', () => {
  const word = fc.constantFrom(
    '51234',
    '{uuid:1}',
    '{~uuid:1}',
    '{given:2}',
    '{~~given:1}',
    ...here.keys(),
    ' ',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(word, fc.string({ maxLength: 5 }))), (words) => {
      const text = words.join('')
      expect(fillNames(storeNames(text, here), here)).toBe(text)
    }),
  )
})
