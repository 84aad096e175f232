import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readShellOutput } from './shell-output.ts'

test.each([
  ['oops', { output: 'oops' }],
  ['', { output: '' }],
  ['Command exited with code: 3', { output: '', exitCode: 3 }],
  ['Output: oops\nExit Code: 3\nProcess Group PGID: 50', { output: 'oops', exitCode: 3 }],
  ['Output: one\ntwo\nProcess Group PGID: 50', { output: 'one\ntwo', exitCode: 0 }],
  ['Output: (empty)\nProcess Group PGID: 50', { output: '', exitCode: 0 }],
  ['Output: x\nSignal: 9\nProcess Group PGID: 50', { output: 'x' }],
  ['Output: x\nBackground PIDs: 7, 8\nProcess Group PGID: 50', { output: 'x' }],
  ['Output: a word that a command printed', { output: 'Output: a word that a command printed' }],
])('%j is %j', (text, expected) => {
  expect(readShellOutput(text)).toEqual(expected)
})

test('no command can hide its exit code', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.constantFrom('Exit Code: 0', 'Process Group PGID: 1', 'Signal: 9'))),
      fc.integer({ min: 1, max: 255 }),
      (lines, code) => {
        const text = `Output: ${lines.join('\n')}\nExit Code: ${code}\nProcess Group PGID: 50`
        expect(readShellOutput(text).exitCode).toBe(code)
      },
    ),
  )
})
