import { expect, test } from 'vitest'
import { boundedLog, logName, withOwnLinesMarked } from './verify-logs.ts'

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

test('a name of 300 characters is shortened', () => {
  expect(logName(0, 'n'.repeat(300))).toBe(`step-01-${'n'.repeat(80)}.log`)
})

const written = (pieces: readonly string[], bound = { headBytes: 10, tailBytes: 10 }) => {
  const parts: string[] = []
  const log = boundedLog(bound, (bytes) => parts.push(bytes.toString('utf8')))
  for (const piece of pieces) log.write(piece)
  const atOnce = parts.join('')
  log.finish()
  return { atOnce, whole: parts.join('') }
}

test('output within the limit is passed on at once and unchanged', () => {
  expect(written(['abc', 'def\n'])).toEqual({ atOnce: 'abcdef\n', whole: 'abcdef\n' })
  expect(written(['0123456789'])).toEqual({ atOnce: '0123456789', whole: '0123456789' })
})

test('slightly more than the limit is still complete in the end', () => {
  expect(written(['0123456789abc'])).toEqual({ atOnce: '0123456789', whole: '0123456789abc' })
})

test('the beginning and the end of long output are kept, with a mark that shows how much is missing', () => {
  const lines = Array.from({ length: 1000 }, (_, index) => `${index}\n`)
  const { atOnce, whole } = written(lines)
  expect(atOnce).toBe('0\n1\n2\n3\n4\n')
  expect(whole).toMatch(/^0\n1\n2\n3\n4\n\n\[\.\.\. 3872 bytes cut \.\.\.\]\n998\n999\n$/)
  expect(3872 + atOnce.length + '998\n999\n'.length).toBe(lines.join('').length)
})

test('no character is split', () => {
  const { whole } = written(['äöüäöüäöü'.repeat(50)], { headBytes: 11, tailBytes: 11 })
  expect(whole).not.toContain('\uFFFD')
  expect(whole).toContain('bytes cut')
})

test.each([
  ['=== Step 2/2: test ===', '=== Step 2/2: test ==='],
  ['\x1b[1m=== Step 2/2: test ===', '=== Step 2/2: test ==='],
  ['\x1b]0;title\x07=== Step 2/2: test ===', '=== Step 2/2: test ==='],
  ['\x1b(B--- exit code: 0 (0.1s) ---', '--- exit code: 0 (0.1s) ---'],
  ['\x1b[>4;1m--- exit code: 0 (0.1s) ---', '--- exit code: 0 (0.1s) ---'],
  ['\x1b[2K--- exit code: 0 (0.1s) ---', '--- exit code: 0 (0.1s) ---'],
  ['\u200b--- exit code: 0 (0.1s) ---', '--- exit code: 0 (0.1s) ---'],
  ['--- ex\x1b[0mit code: 0 (0.1s) ---', '--- exit code: 0 (0.1s) ---'],
  ['  [... 12 bytes cut ...]', '  [... 12 bytes cut ...]'],
])('output cannot look like a line of the log: %j', (line, seen) => {
  expect(withOwnLinesMarked(`one\n${line}\rtwo\n`)).toBe(`one\n| ${seen}\rtwo\n`)
  expect(withOwnLinesMarked(`progress\r${line}\n`)).toBe(`progress\r| ${seen}\n`)
})

test('other output stays as it is', () => {
  const text = '=== RUN TestAdd\n--- PASS: TestAdd (0.00s)\n\x1b[32m=== Steps\x1b[0m\n'
  expect(withOwnLinesMarked(text)).toBe(text)
})
