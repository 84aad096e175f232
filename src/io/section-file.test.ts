import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSectionHead, readSections, writeSections } from './section-file.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const sections = [
  { name: 'a', bytes: Buffer.from('one\n{"sections":1}\n') },
  { name: 'b', bytes: Buffer.alloc(0) },
  { name: 'c', bytes: Buffer.alloc(300_000, 7) },
]

test('sections come back one by one, with the head', () => {
  using lab = temporaryDirectory('gantry-sections-')
  const path = join(lab.path, 'deep/x.blob')
  writeSections(path, { version: 1, long: 'x'.repeat(2_000) }, sections)
  expect(readSectionHead(path)).toMatchObject({ version: 1 })
  expect([...readSections(path)]).toEqual(sections)
  expect(readdirSync(join(lab.path, 'deep'))).toEqual(['x.blob'])
})

test('every truncation and every changed byte of a section is noticed', () => {
  using lab = temporaryDirectory('gantry-sections-')
  const path = join(lab.path, 'x.blob')
  writeSections(path, { version: 1 }, sections.slice(0, 2))
  const whole = readFileSync(path)
  for (let size = whole.length - 1; size > 0; size -= 7) {
    truncateSync(path, size)
    expect(() => [...readSections(path)], `size ${size}`).toThrow('is damaged or incomplete')
  }
  const changed = Buffer.from(whole)
  changed.writeUInt8(0x58, whole.indexOf('one'))
  writeFileSync(path, changed)
  expect(() => [...readSections(path)]).toThrow('is damaged or incomplete')
  writeFileSync(path, whole.toString('latin1').replace('"bytes":0', '"bytes":9e15'))
  expect(() => [...readSections(path)]).toThrow('is damaged or incomplete')
})

test('a section that cannot be made leaves no file', () => {
  using lab = temporaryDirectory('gantry-sections-')
  const failing = (function* () {
    yield* sections
    throw new Error('no')
  })()
  expect(() => writeSections(join(lab.path, 'x.blob'), {}, failing)).toThrow('no')
  expect(readdirSync(lab.path)).toEqual([])
})
