import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { appendJson, removeJson } from './edit-jsonc.ts'
import { parseJsonc, plainValue } from './parse-jsonc.ts'

const read = (text: string, comments = true): unknown => {
  const parsed = parseJsonc(text, { comments })
  return parsed.kind === 'parsed' ? plainValue(parsed.node) : `${parsed.offset}: ${parsed.text}`
}

describe('reading', () => {
  test('parses every JSON text like JSON.parse', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom(undefined, 2, '\t'), (text, indent) => {
        const shown = JSON.stringify(JSON.parse(text), null, indent)
        expect(read(shown, false)).toEqual(JSON.parse(shown))
      }),
    )
  })

  test('refuses every text that JSON.parse refuses', () => {
    const parts = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '1',
      '01',
      '-',
      '1.',
      'true',
      'nul',
      ' ',
      '\n',
      '"',
      '\\',
      '\0',
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 9 }), (pieces) => {
        const text = pieces.join('')
        const mine = parseJsonc(text, { comments: false }).kind === 'parsed'
        expect(mine).toBe(parses(text))
      }),
      { numRuns: 500 },
    )
  })

  test('a comment is skipped where it is allowed, and an error where it is not', () => {
    const text = '// first\n{ "a": /* one */ 1 } // last'
    expect(read(text)).toEqual({ a: 1 })
    expect(read(text, false)).toBe('0: a comment is not allowed in this file')
  })

  test.each([
    ['', '0: the file ends too early: the file is empty'],
    ['{"a":1,}', '6: a comma before } is not allowed'],
    ['{"a" 1}', '5: a colon is expected after the key "a"'],
    ["{'a':1}", '1: a key in double quotes is expected here'],
    ['{"a":1', '6: the file ends too early: a comma or } is expected here'],
    ['{} x', '3: something follows the end of the value'],
    ['{"a": /* no end', '6: a value is expected here'],
    ['['.repeat(9999), '201: nested too deeply'],
  ])('%j gives an error with its position', (text, message) => {
    expect(read(text)).toBe(message)
  })

  test('skips a byte order mark, keeps a key named __proto__, and uses the last of two equal keys', () => {
    expect(read('\uFEFF{"a":1,"a":2}')).toEqual({ a: 2 })
    expect(Object.keys(read('{"__proto__":{"x":1}}') as object)).toEqual(['__proto__'])
  })
})

describe('changing', () => {
  const style = fc.record({
    value: fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 }),
    indent: fc.constantFrom(undefined, 2, 4, '\t'),
    eol: fc.constantFrom('\n', '\r\n'),
    end: fc.constantFrom('', '\n'),
  })
  const shown = ({
    value,
    indent,
    eol,
    end,
  }: {
    value: unknown
    indent: number | string | undefined
    eol: string
    end: string
  }) => `${JSON.stringify(value, null, indent).replaceAll('\n', eol)}${end}`

  test('an appended entry is there, and everything else is unchanged', () => {
    fc.assert(
      fc.property(style, fc.jsonValue({ maxDepth: 2 }), (given, added) => {
        const text = appendJson(shown(given), [], { key: '*new', value: added })
        const plain = JSON.parse(JSON.stringify({ ...given.value, '*new': added }))
        expect(JSON.parse(text)).toEqual(plain)
        expect(Object.keys(JSON.parse(text))).toEqual(Object.keys(plain))
      }),
    )
  })

  test('appending to a multi-line text and removing again gives the same bytes', () => {
    fc.assert(
      fc.property(style, fc.jsonValue({ maxDepth: 2 }), (given, added) => {
        fc.pre(given.indent !== undefined && Object.keys(given.value).length > 0)
        const text = shown(given)
        expect(removeJson(appendJson(text, [], { key: '*new', value: added }), ['*new'])).toBe(text)
      }),
    )
  })

  test('every entry can be removed without the others', () => {
    fc.assert(
      fc.property(style, fc.nat(), (given, at) => {
        const keys = Object.keys(given.value)
        fc.pre(keys.length > 0)
        const key = keys[at % keys.length] ?? ''
        const { [key]: _, ...rest } = JSON.parse(JSON.stringify(given.value))
        expect(JSON.parse(removeJson(shown(given), [key]))).toEqual(rest)
      }),
    )
  })

  test('a list keeps its comments through an append and a removal', () => {
    const text = '{\n  // all of it\n  "list": [\n    1, // one, the first\n    2 // two\n  ]\n}\n'
    const longer = appendJson(text, ['list'], { value: { a: 3 } })
    expect(longer).toBe(
      '{\n  // all of it\n  "list": [\n    1, // one, the first\n    2, // two\n    {\n      "a": 3\n    }\n  ]\n}\n',
    )
    expect(removeJson(longer, ['list', 2])).toBe(text)
    expect(read(removeJson(longer, ['list', 0]))).toEqual({ list: [2, { a: 3 }] })
    expect(removeJson(longer, ['list', 0])).toContain('// one, the first')
    expect(read(removeJson(longer, ['list', 1]))).toEqual({ list: [1, { a: 3 }] })
  })

  test('a comment at the end of a line never swallows what follows', () => {
    for (const text of ['[1, // c\n 2]', '[1 // c\n, 2, 3]', '[1, /* , */ 2 // c\n]', '[ // c\n1]']) {
      const length = (read(text) as unknown[]).length
      for (let at = 0; at < length; at++) expect(read(removeJson(text, [at]))).toHaveLength(length - 1)
      expect(read(appendJson(text, [], { value: 9 }))).toHaveLength(length + 1)
    }
  })

  test('an entry appended to a single-line or empty text gets its own lines', () => {
    expect(appendJson('{"a":1}', [], { key: 'b', value: [2] })).toBe('{"a":1,\n  "b": [\n    2\n  ]\n}')
    expect(appendJson('{}\n', [], { key: 'b', value: 2 })).toBe('{\n  "b": 2\n}\n')
    expect(appendJson('{ /* none */ }', [], { key: 'b', value: 2 })).toBe('{ /* none */\n  "b": 2\n}')
  })
})

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
