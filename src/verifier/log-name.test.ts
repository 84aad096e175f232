import { expect, test } from 'vitest'
import { logName } from './log-name.ts'

test.each([
  [0, 'test', 'step-01-test.log'],
  [1, 'unit tests', 'step-02-unit-tests.log'],
  [11, '../../etc/passwd', 'step-12-etc-passwd.log'],
  [0, 'a/b\\c:d*?"<>|', 'step-01-a-b-c-d.log'],
  [0, '🚀🚀', 'step-01-unnamed.log'],
  [0, 'prüfen ✓', 'step-01-prufen.log'],
  [0, '.hidden', 'step-01-hidden.log'],
  [0, '\n\t\0', 'step-01-unnamed.log'],
  [0, '测试', 'step-01-unnamed.log'],
  [122, 'x', 'step-123-x.log'],
])('step %i named %j has the log %s', (index, name, expected) => {
  expect(logName(index, name)).toBe(expected)
})

test('a name of 300 characters becomes a short one', () => {
  expect(logName(0, 'n'.repeat(300))).toBe(`step-01-${'n'.repeat(80)}.log`)
})
