import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonPathProblem, queryJson } from './json-path.ts'

const document = {
  a: { 'b-c': 1, list: [10, 20, 30] },
  tasks: [
    { id: 1, title: 'milk', done: true },
    { id: 2, title: 'bread', done: false },
  ],
  nothing: null,
}

describe('queryJson', () => {
  test.each([
    ['$', [document]],
    ['$.a.list', [[10, 20, 30]]],
    ['$.a.list[0]', [10]],
    ['$.a.list[-1]', [30]],
    ["$.a['b-c']", [1]],
    ['$.nothing', [null]],
  ])('%s selects one value', (path, values) => {
    expect(queryJson(document, path)).toEqual({ kind: 'found', values, singular: true })
  })

  test.each([
    ['$.a.list[*]', [10, 20, 30]],
    ['$..title', ['milk', 'bread']],
    ['$.tasks[?@.done == true].title', ['milk']],
    ['$.tasks[?match(@.title, "m.*")].id', [1]],
    ['$.tasks[?search(@.title, "ea")].id', [2]],
  ])('%s may select several values', (path, values) => {
    expect(queryJson(document, path)).toEqual({ kind: 'found', values, singular: false })
  })

  test.each([
    '$.missing',
    '$.a.list[9]',
    '$.a.list.length',
    '$.constructor',
    '$.__proto__',
    '$.tasks[?@.id > 9]',
  ])('%s is absent, not an error', (path) => {
    expect(queryJson(document, path)).toEqual({ kind: 'absent' })
  })

  test.each([
    ['count', 'starts with "$"'],
    ['', 'starts with "$"'],
    ['$.', 'key is missing'],
    ['$.a..', 'key is missing'],
    ['$.a ', 'white space'],
    ['$.a[', 'unclosed'],
    ['$.a[x]', 'unexpected'],
    ['$.a[1.5]', 'unexpected'],
    ['$.count > 5', 'expected'],
    ['$.a[99999999999999999999]', 'out of range'],
  ])('%s is refused with a message', (path, message) => {
    expect(queryJson(document, path)).toMatchObject({
      kind: 'bad',
      message: expect.stringContaining(message),
    })
    expect(jsonPathProblem(path)).toContain(message)
  })

  test('a valid path has no problem', () => {
    expect(jsonPathProblem('$.a.list[0]')).toBeNull()
  })

  test('a pattern in a filter cannot hang on a hostile document', () => {
    expect(queryJson([`${'a'.repeat(100_000)}b`], '$[?search(@, "(a+)+$")]')).toEqual({ kind: 'absent' })
  })

  test('match needs the whole string, search a part of it', () => {
    expect(queryJson(['abc'], '$[?match(@, "b")]')).toEqual({ kind: 'absent' })
    expect(queryJson(['abc'], '$[?match(@, "a|abc")]')).toMatchObject({ kind: 'found' })
    expect(queryJson(['abc', 1], '$[?search(@, "b")]')).toMatchObject({ values: ['abc'] })
  })

  test('a document nested too deeply is refused without a crash', () => {
    const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
    expect(queryJson(deep, '$..x')).toMatchObject({
      kind: 'bad',
      message: expect.stringContaining('recursion'),
    })
    expect(queryJson(deep, '$[0][0]')).toMatchObject({ kind: 'found' })
  })
})

test('a quoted name finds the member of any name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.jsonValue(), (name, value) => {
      const holder: unknown = JSON.parse(`{${JSON.stringify(name)}: ${JSON.stringify(value)}}`)
      expect(queryJson(holder, `$[${JSON.stringify(name)}]`)).toMatchObject({ kind: 'found', singular: true })
    }),
  )
})

test('any text as a path gives a result', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(['found', 'absent', 'bad']).toContain(queryJson(document, `$${text}`).kind)
    }),
  )
})
