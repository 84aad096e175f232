import assert from 'node:assert/strict'
import { test } from 'node:test'

test('two and two are four', () => assert.equal(2 + 2, 4))
