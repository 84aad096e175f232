import assert from 'node:assert/strict'
import test from 'node:test'
import { parseDuration } from '../src/parse-duration.ts'

test('one unit', () => {
  assert.equal(parseDuration('90s'), 90_000)
  assert.equal(parseDuration('2m'), 120_000)
})

test('several units, the largest first', () => {
  assert.equal(parseDuration('1h30m'), 5_400_000)
})

test('anything else is refused', () => {
  for (const text of ['', '12', 'soon', '30m1h', '1h 30m']) assert.throws(() => parseDuration(text), RangeError)
})
