import { expect, test } from 'vitest'
import { mergeSettings } from './merge-settings.ts'

test('objects are merged, anything else is replaced', () => {
  const first = { a: { b: 1, c: { d: 2 } }, list: [1, 2], e: 'x' }
  const second = { a: { c: { f: 3 } }, list: [3], e: { g: 4 } }
  expect(mergeSettings(first, second)).toEqual({ a: { b: 1, c: { d: 2, f: 3 } }, list: [3], e: { g: 4 } })
})

test('a key that is special to JavaScript is only a key', () => {
  const merged = mergeSettings({}, JSON.parse('{"__proto__":{"polluted":true}}'))
  expect(Object.keys(merged)).toEqual(['__proto__'])
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})
