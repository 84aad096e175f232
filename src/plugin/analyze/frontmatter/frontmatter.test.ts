import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseFrontmatter } from './read-markdown.ts'

interface Case {
  readonly name: string
  readonly text: string
  readonly fields: Readonly<Record<string, unknown>>
  /** Of the file, when it is not YAML. */
  readonly problemLine?: number
  readonly isRead?: boolean
}

/** The fields that Claude Code 2.1.325 read from each of these. */
const corpus: readonly Case[] = readFileSync(
  join(import.meta.dirname, '../../../../test/corpus/plugin/frontmatter.jsonl'),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))

describe('the corpus', () => {
  test.each(corpus.map((each) => [each.name, each] as const))('%s', (_, { text, fields, ...expected }) => {
    const read = parseFrontmatter(text.replaceAll('\r\n', '\n').replace(/^\uFEFF/, ''), text.includes('\r'))
    expect(read.fields).toEqual(fields)
    expect([read.problem?.line, read.problem?.isRead]).toEqual([expected.problemLine, expected.isRead])
  })
})

test('keys and body have their line numbers in the file', () => {
  const read = parseFrontmatter('---\nname: a\ndescription: |\n  one\n  two\ntools: Read\n---\nbody\n')
  expect([read.lineOf('name'), read.lineOf('description'), read.lineOf('tools')]).toEqual([2, 3, 6])
  expect([read.body, read.bodyLine]).toEqual(['body\n', 8])
})

test('keys of repaired frontmatter have line numbers too', () => {
  const read = parseFrontmatter('---\nname: a\ndescription: Use when: asked\n---\nbody')
  expect([read.lineOf('description'), read.problem]).toEqual([
    3,
    { line: 3, text: "a second ': ' in one line; quote text that contains one", isRead: true },
  ])
})

test('no text makes it throw, and the body is never longer than the text', () => {
  const piece = fc.constantFrom(
    '---',
    '\n',
    ': ',
    'a',
    '- ',
    '"',
    "'",
    '{',
    '[',
    '|',
    '>',
    '\t',
    '&a',
    '*a',
    '!!x',
    '%',
    'é',
    '\0',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 30 }), (pieces) => {
      for (const text of [pieces.join(''), `---\n${pieces.join('')}\n---\n`]) {
        const read = parseFrontmatter(text)
        expect(text.endsWith(read.body)).toBe(true)
        expect(read.lineOf('description')).toBeGreaterThan(0)
      }
    }),
  )
})
