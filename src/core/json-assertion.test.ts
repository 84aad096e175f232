import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  assertionForms,
  evaluateAssertion,
  formatAssertion,
  type JsonAssertion,
  jsonEquals,
  parseAssertion,
} from './json-assertion.ts'
import { type JsonValue, queryJson } from './json-path.ts'

describe('parseAssertion', () => {
  test.each<[string, JsonAssertion]>([
    ['exists', { kind: 'exists' }],
    ['  exists ', { kind: 'exists' }],
    ['equals 3', { kind: 'equals', value: 3 }],
    ['equals "3"', { kind: 'equals', value: '3' }],
    ['equals open', { kind: 'equals', value: 'open' }],
    ['equals two words', { kind: 'equals', value: 'two words' }],
    ['equals {"a": [1]}', { kind: 'equals', value: { a: [1] } }],
    ['equals null', { kind: 'equals', value: null }],
    ['equals ""', { kind: 'equals', value: '' }],
    ['contains milk', { kind: 'contains', text: 'milk' }],
    ['len >= 2', { kind: 'len', operator: '>=', length: 2 }],
    ['len == 0', { kind: 'len', operator: '==', length: 0 }],
    ['len > 1', { kind: 'len', operator: '>', length: 1 }],
    ['len < 9', { kind: 'len', operator: '<', length: 9 }],
    ['len<=9', { kind: 'len', operator: '<=', length: 9 }],
  ])('reads %s', (source, assertion) => {
    expect(parseAssertion(source)).toEqual({ kind: 'ok', assertion })
  })

  test.each([
    '$.count > 5',
    '',
    'exist',
    'exists now',
    'equals',
    'equals ',
    'contains',
    'len',
    'len != 3',
    'len >= -1',
    'len >= 1.5',
    'len >= x',
    'len = 3',
    'EXISTS',
    '> 5',
  ])('refuses %j and lists every allowed form', (source) => {
    const result = parseAssertion(source)
    expect(result.kind).toBe('bad')
    for (const form of assertionForms)
      expect(result).toMatchObject({ message: expect.stringContaining(form) })
  })
})

describe('evaluateAssertion', () => {
  test.each(['exists', 'equals null', 'contains a', 'len >= 0', 'len == 0', 'len < 5'])(
    'an absent value fails "%s"',
    (assertion) => {
      expect(judge({}, '$.missing', assertion)).toBe(false)
    },
  )

  test.each<[JsonValue, string, boolean]>([
    [0, 'exists', true],
    ['', 'exists', true],
    [false, 'exists', true],
    [null, 'exists', false],
    [3, 'equals 3', true],
    ['3', 'equals 3', false],
    ['3', 'equals "3"', true],
    ['open', 'equals open', true],
    [null, 'equals null', true],
    [{ a: 1, b: [2] }, 'equals {"b": [2], "a": 1}', true],
    [[1, 2], 'equals [2, 1]', false],
    [{ a: 1 }, 'equals {"a": 1, "b": 2}', false],
    ['buy milk', 'contains milk', true],
    ['buy milk', 'contains "milk"', false],
    [['milk', 'bread'], 'contains milk', true],
    [['oat milk'], 'contains milk', false],
    [[1, 2], 'contains 2', true],
    [[{ id: 1 }], 'contains {"id": 1}', true],
    [7, 'contains 7', false],
    [{ milk: 1 }, 'contains milk', false],
    [[1, 2], 'len >= 2', true],
    [[1, 2], 'len > 2', false],
    [[1, 2], 'len == 2', true],
    [[1, 2], 'len < 2', false],
    [[1, 2], 'len <= 2', true],
    [{ a: 1 }, 'len == 1', true],
    ['two', 'len == 3', false],
    [3, 'len == 3', false],
    [null, 'len == 0', false],
  ])('for %j "%s" is %s', (value, assertion, expected) => {
    expect(judge({ value }, '$.value', assertion)).toBe(expected)
  })

  test('a single selected value is judged directly, several as a list', () => {
    const tasks = {
      tasks: [
        { id: 1, title: 'milk' },
        { id: 2, title: 'bread' },
      ],
    }
    expect(judge(tasks, '$.tasks[?@.id == 1].title', 'equals milk')).toBe(true)
    expect(judge(tasks, '$.tasks[*].title', 'equals ["milk", "bread"]')).toBe(true)
    expect(judge(tasks, '$.tasks[*].title', 'contains bread')).toBe(true)
  })

  test('len counts the selected values of a filter, also when it selected exactly one', () => {
    const tasks = {
      tasks: [
        { id: 1, tags: ['a', 'b', 'c'] },
        { id: 2, tags: [] },
      ],
    }
    expect(judge(tasks, '$.tasks[?@.id == 1].tags', 'len == 1')).toBe(true)
    expect(judge(tasks, '$.tasks[0].tags', 'len == 3')).toBe(true)
  })

  test('reports the length, or the kind of value that has none', () => {
    expect(evaluateAssertion(assertion('len > 5'), queryJson([1, 2], '$')).reason).toContain('2')
    expect(evaluateAssertion(assertion('len > 5'), queryJson('text', '$')).reason).toContain('a string')
  })
})

const json = fc.jsonValue().map(clean)

test('equals is reflexive for any JSON, and an assertion survives being written and read', () => {
  fc.assert(
    fc.property(json, (value) => {
      const parsed = parseAssertion(`equals ${JSON.stringify(value)}`)
      expect(parsed).toEqual({ kind: 'ok', assertion: { kind: 'equals', value } })
      expect(judge({ value }, '$.value', `equals ${JSON.stringify(value)}`)).toBe(true)
    }),
  )
})

test('every assertion parses back from its canonical spelling', () => {
  const word = fc.string({ minLength: 1 }).filter((text) => text.trim() === text && text !== '')
  const anyAssertion = fc.oneof(
    fc.constant<JsonAssertion>({ kind: 'exists' }),
    json.map((value): JsonAssertion => ({ kind: 'equals', value })),
    word.map((text): JsonAssertion => ({ kind: 'contains', text })),
    fc
      .tuple(fc.constantFrom('>=', '==', '<=', '>', '<'), fc.nat())
      .map(([operator, length]): JsonAssertion => ({ kind: 'len', operator, length })),
  )
  fc.assert(
    fc.property(anyAssertion, (value) => {
      expect(parseAssertion(formatAssertion(value))).toEqual({ kind: 'ok', assertion: value })
    }),
  )
})

test('the five len forms agree with the real length', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 8 }), fc.nat(9), fc.boolean(), (list, n, asObject) => {
      const holder: JsonValue = asObject ? Object.fromEntries(list.entries()) : list
      const length = list.length
      expect(judge(holder, '$', `len >= ${n}`)).toBe(length >= n)
      expect(judge(holder, '$', `len == ${n}`)).toBe(length === n)
      expect(judge(holder, '$', `len <= ${n}`)).toBe(length <= n)
      expect(judge(holder, '$', `len > ${n}`)).toBe(length > n)
      expect(judge(holder, '$', `len < ${n}`)).toBe(length < n)
    }),
  )
})

test('jsonEquals agrees with comparing canonical text, and is symmetric', () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      expect(jsonEquals(a, b)).toBe(canonical(a) === canonical(b))
      expect(jsonEquals(a, b)).toBe(jsonEquals(b, a))
    }),
  )
})

test('jsonEquals survives documents nested deeper than the stack', () => {
  const deep = (): JsonValue => JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
  expect(jsonEquals(deep(), deep())).toBe(true)
})

function judge(document: JsonValue, path: string, source: string): boolean {
  return evaluateAssertion(assertion(source), queryJson(document, path)).holds
}

function assertion(source: string): JsonAssertion {
  const parsed = parseAssertion(source)
  if (parsed.kind === 'bad') throw new Error(parsed.message)
  return parsed.assertion
}

/** Without negative zero, which JSON cannot represent. */
function clean(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value))
}

function canonical(value: JsonValue): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
