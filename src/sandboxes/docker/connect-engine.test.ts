import { expect, test } from 'vitest'
import { apiVersionFor } from './connect-engine.ts'

test.each([
  ['1.41', '1.12', '1.41'],
  ['1.52', '1.44', '1.44'],
  ['1.47', '1.24', '1.41'],
  ['1.40', '1.24', '1.40'],
  ['1.9', '1.1', '1.9'],
])('for an engine with API version %s and minimum %s, version %s is used', (newest, oldest, chosen) => {
  expect(apiVersionFor(newest, oldest)).toBe(chosen)
})
