import { expect, test } from 'vitest'
import { boundedLog } from './bounded-log.ts'

const written = (pieces: readonly string[], bound = { headBytes: 10, tailBytes: 10 }) => {
  const parts: string[] = []
  const log = boundedLog(bound, (bytes) => parts.push(bytes.toString('utf8')))
  for (const piece of pieces) log.write(piece)
  const atOnce = parts.join('')
  log.finish()
  return { atOnce, whole: parts.join('') }
}

test('what fits is passed on at once and unchanged', () => {
  expect(written(['abc', 'def\n'])).toEqual({ atOnce: 'abcdef\n', whole: 'abcdef\n' })
  expect(written(['0123456789'])).toEqual({ atOnce: '0123456789', whole: '0123456789' })
})

test('a little more than the bound is still whole in the end', () => {
  expect(written(['0123456789abc'])).toEqual({ atOnce: '0123456789', whole: '0123456789abc' })
})

test('of much more the beginning and the end are kept, with a mark that says how much is missing', () => {
  const lines = Array.from({ length: 1000 }, (_, index) => `${index}\n`)
  const { atOnce, whole } = written(lines)
  expect(atOnce).toBe('0\n1\n2\n3\n4\n')
  expect(whole).toMatch(/^0\n1\n2\n3\n4\n\n\[\.\.\. 3872 bytes cut \.\.\.\]\n998\n999\n$/)
  expect(3872 + atOnce.length + '998\n999\n'.length).toBe(lines.join('').length)
})

test('no character is cut in two', () => {
  const { whole } = written(['äöüäöüäöü'.repeat(50)], { headBytes: 11, tailBytes: 11 })
  expect(whole).not.toContain('\uFFFD')
  expect(whole).toContain('bytes cut')
})
