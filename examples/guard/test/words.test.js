import assert from 'node:assert/strict'
import test from 'node:test'
import { words } from '../src/words.js'

test('words are what stands between white space', () => {
  assert.deepEqual(words(' one  two\n'), ['one', 'two'])
})
