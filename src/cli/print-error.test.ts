import { expect, test } from 'vitest'
import { GantryError } from '../core/error.ts'
import { printError } from './print-error.ts'

function printed(error: unknown): { code: number; text: string } {
  let text = ''
  const stderr = {
    write: (part: string) => {
      text += part
    },
    isTTY: false,
    columns: 80,
    color: false,
  }
  return { code: printError(error, { stderr }), text }
}

test('an error of the user shows place, message and hint, without a stack', () => {
  const error = new GantryError('INVALID_FILE', 'no such key', {
    at: { file: 'a.yaml', line: 3, column: 5 },
    hint: 'Mend it.',
  })
  expect(printed(error)).toEqual({ code: 2, text: 'error: a.yaml:3:5: no such key\nhint:  Mend it.\n' })
})

test('a message that has its place already does not show it twice', () => {
  const error = new GantryError('INVALID_FILE', 'a.yaml:3:5: no such key', {
    at: { file: 'a.yaml', line: 3, column: 5 },
  })
  expect(printed(error).text).toBe('error: a.yaml:3:5: no such key\n')
})

test('each kind of fault has its exit code', () => {
  expect(printed(new GantryError('NO_SPACE', 'full')).code).toBe(3)
  expect(printed(new GantryError('INTERRUPTED', 'stopped')).code).toBe(130)
})

test('a fault of ours is called a bug and shows its stack', () => {
  const { code, text } = printed(new TypeError('undefined is no function'))
  expect(code).toBe(3)
  expect(text).toMatch(/^bug:[\s\S]*undefined is no function[\s\S]*at /)
})
