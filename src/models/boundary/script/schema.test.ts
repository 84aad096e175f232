import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { GantryError } from '../../../core/error.ts'
import { boundaryScriptSchema, readBoundaryScript } from './schema.ts'

test('a short script is enough', () => {
  expect(boundaryScriptSchema.parse({ turns: [{ text: 'Hello.' }] })).toEqual({
    pick: 'index',
    turns: [{ text: 'Hello.' }],
    rules: [],
    compaction: { text: expect.stringMatching(/^<analysis>.*<\/analysis>\n<summary>.*<\/summary>$/) },
    models: ['scripted'],
  })
})

test.each<[string, string, number, number, RegExp]>([
  ['an unknown key', 'turns:\n  - txt: hi\n', 2, 5, /txt/],
  ['an empty turn', 'turns:\n  - {}\n', 2, 5, /needs text, thinking, calls or error/],
  [
    'two things in one call',
    'turns:\n  - calls:\n      - run: ls\n        read: { path: a }\n',
    3,
    9,
    /exactly one action, this one has run and read/,
  ],
  ['an empty call', 'turns:\n  - calls:\n      - {}\n', 3, 9, /needs one of run, write, edit/],
  [
    'an error with text',
    'turns:\n  - text: hi\n    error: { status: 500 }\n',
    2,
    5,
    /no other key except delay_ms: text/,
  ],
  [
    'a last error with times',
    'turns:\n  - text: a\n  - error:\n      status: 429\n      times: 2\n',
    5,
    14,
    /times needs a turn after it/,
  ],
  ['no turns', 'turns: []\n', 1, 8, /Too small|at least|empty/i],
  ['a status that is not an error', 'turns:\n  - error: { status: 200 }\n', 2, 22, /400/],
  ['broken YAML', 'turns:\n  - text: "open\n', 2, 11, /never closed/],
])('%s is reported with file, line and column', async (_, text, line, column, message) => {
  await using fixture = await createFixture({ 's.yaml': text })
  const path = fixture.getPath('s.yaml')
  let failed: unknown = null
  try {
    readBoundaryScript(path)
  } catch (error) {
    failed = error
  }
  expect(failed).toBeInstanceOf(GantryError)
  expect(failed).toMatchObject({
    code: 'INVALID_FILE',
    message: expect.stringMatching(message),
    at: { file: path, line, column },
  })
})

test('a mistyped key gets a suggestion', async () => {
  await using fixture = await createFixture({ 's.yaml': 'turns:\n  - text: a\n    dely_ms: 3\n' })
  expect(() => readBoundaryScript(fixture.getPath('s.yaml'))).toThrow(/delay_ms/)
})

test('every key has a description', () => {
  const { properties } = z.toJSONSchema(boundaryScriptSchema, { io: 'input' })
  expect(undescribed(properties, '')).toEqual([])
})

function undescribed(node: unknown, path: string): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, child]: [string, unknown]) => {
    const here = `${path}/${key}`
    const inner = typeof child === 'object' && child !== null ? child : {}
    const inProperties = path === '' || path.endsWith('/properties')
    const bare = inProperties && !('description' in inner) && !('$ref' in inner) ? [here] : []
    return [...bare, ...undescribed(child, here)]
  })
}
