import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import { openLines } from './line-file.ts'

let root: string

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'gantry-lines-'))
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

test('finds every whole line of any file, and reads each again as it was', () => {
  const path = join(root, 'log')
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: anyCharacter }).map((text) => text.replaceAll('\n', ''))),
      fc.string(),
      (lines, torn) => {
        const tail = torn.replaceAll('\n', '')
        writeFileSync(path, `${lines.map((line) => `${line}\n`).join('')}${tail}`)
        const file = openLines(path, 4)
        const spans = [...(file?.spans() ?? [])]
        expect(spans.toReversed().map((span) => file?.read(span))).toEqual(
          lines.toReversed().map((line) => line.toWellFormed()),
        )
        expect(spans.map(({ head }) => head)).toEqual(
          lines.map((line) => Buffer.from(line).subarray(0, 4).toString('latin1')),
        )
        file?.close()
      },
    ),
  )
})

test('a line may be longer than what is read at a time, and begin anywhere in it', () => {
  const path = join(root, 'long')
  const lines = ['a'.repeat((1 << 18) - 2), 'bcdef', 'g'.repeat(1 << 19), '', 'h']
  writeFileSync(path, `${lines.join('\n')}\n`)
  const file = openLines(path, 4)
  const spans = [...(file?.spans() ?? [])]
  expect(spans.map((span) => file?.read(span))).toEqual(lines)
  expect(spans.map(({ head }) => head)).toEqual(['aaaa', 'bcde', 'gggg', '', 'h'])
  file?.close()
})

test('no file, no lines', () => {
  expect(openLines(join(root, 'missing'), 4)).toBeNull()
})
