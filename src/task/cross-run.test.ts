import { expect, test } from 'vitest'
import { asksForValues } from './cross-run.ts'

const before = "assert.equal(formatSize(0), '0 B')"

test.each([
  ['formatSize must write "0 bytes".', true],
  ['Rename formatSize to size.', false],
  ['Refactor formatSize.', false],
  ['Format the file.', false],
])('whether a task asks for other values: %s', (task, asks) => {
  expect(asksForValues(task, before, "assert.equal(formatSize(0), '0 bytes')")).toBe(asks)
})
