import { expect, test } from 'vitest'
import { GantryError } from '../core/error.ts'
import { printError } from './print-error.ts'

function printed(error: unknown, causes = false): { code: number; text: string } {
  let text = ''
  const stderr = {
    write: (part: string) => {
      text += part
    },
    isTTY: false,
    columns: 80,
    color: false,
  }
  const code = printError(error, { stderr }, { causes })
  return { code, text }
}

test('a user error shows position, message and hint, without a stack', () => {
  const error = new GantryError('INVALID_FILE', 'no such key', {
    at: { file: 'a.yaml', line: 3, column: 5 },
    hint: 'Fix it.',
  })
  expect(printed(error)).toEqual({ code: 2, text: 'error: a.yaml:3:5: no such key\nhint:  Fix it.\n' })
})

test('a message that contains its position does not show it twice', () => {
  const error = new GantryError('INVALID_FILE', 'a.yaml:3:5: no such key', {
    at: { file: 'a.yaml', line: 3, column: 5 },
  })
  expect(printed(error).text).toBe('error: a.yaml:3:5: no such key\n')
})

test('each kind of error has its exit code', () => {
  expect(printed(new GantryError('NO_SPACE', 'full')).code).toBe(3)
  expect(printed(new GantryError('INTERRUPTED', 'stopped')).code).toBe(130)
})

test('an internal error is called a bug and shows its stack', () => {
  const { code, text } = printed(new TypeError('undefined is no function'))
  expect(code).toBe(3)
  expect(text).toMatch(/^bug:[\s\S]*undefined is no function[\s\S]*at /)
})

test('with --debug the errors that led to this one follow, and without it they do not', () => {
  const cause = new SyntaxError('unexpected token', { cause: 'a word' })
  const error = new GantryError('INVALID_FILE', 'not YAML', { cause })
  expect(printed(error, true).text).toMatch(
    /^error: not YAML\ncause: SyntaxError: unexpected token\n[\s\S]+cause: a word\n$/,
  )
  expect(printed(error).text).toBe('error: not YAML\n')
})
