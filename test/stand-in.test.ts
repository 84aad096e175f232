import { describe, expect, test } from 'vitest'
import { standIn } from '../scripts/stand-in.ts'

describe('a stand-in for an export of another section of the hook program', () => {
  test('loads the function only when it is called', () => {
    const asked: string[] = []
    const there = (): unknown => {
      asked.push('asked')
      return (a: number, b: number) => a + b
    }
    const sum = made((a: number, b: number) => a + b, 'there()', there)
    expect(asked).toEqual([])
    expect(sum(2, 3)).toBe(5)
    expect(asked).toEqual(['asked'])
  })

  test('copies the data of an object, and forwards its functions as methods', () => {
    const rule = {
      name: 'r',
      on: ['tool_before'],
      judge(scene: number) {
        return scene + this.name.length
      },
    }
    const other = { ...rule, name: 'longer' }
    const stands = made(rule, 'there()', () => other)
    expect({ name: stands.name, on: stands.on }).toEqual({ name: 'r', on: ['tool_before'] })
    expect(stands.judge(1)).toBe(7)
  })

  test('keeps the names of a map of functions, and those of a set', () => {
    const programs = new Map([['cp', (word: string) => `copies ${word}`]])
    const stands = made(programs, 'there()', () => programs)
    expect([...stands.keys()]).toEqual(['cp'])
    expect(stands.get('cp')?.('a')).toBe('copies a')
    expect(made(new Set(['sh', 'bash']), 'there()', () => null)).toEqual(new Set(['sh', 'bash']))
  })

  test.each([
    ['a class', class {}],
    ['an object of a class', new (class {})()],
    ['a getter', Object.defineProperty({}, 'a', { get: () => 1, enumerable: true })],
    ['a map with other keys', new Map([[1, () => 1]])],
    ['a map of data', new Map([['a', 1]])],
    ['a pattern', /a/],
    ['nothing', undefined],
    ['a long list', Array.from({ length: 500 }, (_, index) => `word ${index}`)],
  ])('is none for %s', (_, value) => {
    expect(standIn(value, 'there()')).toBeNull()
  })
})

function made<T>(value: T, expression: string, there: () => unknown): T {
  return new Function('there', `return ${standIn(value, expression)}`)(there)
}
