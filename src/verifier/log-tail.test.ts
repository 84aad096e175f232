import { expect, test } from 'vitest'
import { logTail } from './log-tail.ts'

const tailOf = (pieces: readonly string[], lines = 200): string => {
  const tail = logTail(lines)
  for (const piece of pieces) tail.push(piece)
  return tail.text()
}

const numbered = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`)

test('exactly the last 200 of 500 lines are kept', () => {
  expect(tailOf(numbered(1, 500).map((line) => `${line}\n`)).split('\n')).toEqual(numbered(301, 500))
  expect(tailOf([`${numbered(1, 500).join('\n')}\n`]).split('\n')).toEqual(numbered(301, 500))
})

test('a shorter log is kept whole, and an empty one stays empty', () => {
  expect(tailOf(['a\nb\n'])).toBe('a\nb')
  expect(tailOf([])).toBe('')
  expect(tailOf([''])).toBe('')
})

test('the last line counts without a newline', () => {
  expect(tailOf([`${numbered(1, 200).join('\n')}\nlast`]).split('\n')).toEqual([...numbered(2, 200), 'last'])
})

test('empty lines count, and carriage returns stay with their lines', () => {
  expect(tailOf(['a\r\n\r\nb\r\n'], 2)).toBe('\r\nb\r')
  expect(tailOf(['a\n\n\n'], 2)).toBe('\n')
})

test('a line that arrives in pieces is one line', () => {
  expect(tailOf(['a', 'b', 'c\n', 'd'])).toBe('abc\nd')
})

test('the beginning and the end of a line of a hundred million characters are kept, in little memory', () => {
  const tail = logTail(200)
  const piece = 'x'.repeat(100_000)
  tail.push('start')
  for (let count = 0; count < 1000; count += 1) tail.push(piece)
  tail.push('end\nnext\n')
  const [line = '', next] = tail.text().split('\n')
  expect(next).toBe('next')
  expect(line).toMatch(/^startx+\[\.\.\. 99991816 characters cut \.\.\.\]x+end$/)
  expect(line.length).toBeLessThan(9000)
})
