import fc from 'fast-check'
import { expect, test } from 'vitest'
import { madeUpWorld } from '../../guard-engine/world.conformance.ts'
import { gitBlobId } from '../../io/sha256.ts'
import { trackedFiles } from './tracked-files.ts'

const root = '/home/dev/app'

/** The index as a rule reads it: bytes of all kinds, taken for text. */
function indexText(files: Readonly<Record<string, string>>): string {
  const entries = Object.entries(files).map(([name, content], at) =>
    Buffer.concat([
      Buffer.from([0, 0, 0x81, 0xa4, 0xe2, 0x82, 0xc3, content.length & 0xff, at & 0xff]),
      gitBlobId(Buffer.from(content)),
      Buffer.from([0, Buffer.byteLength(name)]),
      Buffer.from(`${name}\0\0\0`),
    ]),
  )
  return Buffer.concat([Buffer.from('DIRC\0\0\0\u0002'), ...entries]).toString('utf8')
}

function tracked(kept: Readonly<Record<string, string>>, there: Readonly<Record<string, string>>) {
  const files = Object.fromEntries(Object.entries(there).map(([name, text]) => [name, { text }]))
  return trackedFiles(
    madeUpWorld({ root, files: { ...files, '.git/index': { text: indexText(kept) } } }),
    `${root}/src`,
  )
}

test('the id of a content is the one git gives it', () => {
  const hex = (text: string): string => Buffer.from(gitBlobId(Buffer.from(text))).toString('hex')
  expect(hex('')).toBe('e69de29bb2d1d6434b8b29ae775ad8c2e48c5391')
  expect(hex('hello\n')).toBe('ce013625030ba8dba906f756967f9e9ca394464a')
  expect(hex('x'.repeat(1000))).toBe('14c7dfdd4258dec5c0e9d2e919bd249bd674be1f')
})

test('a file that equals its entry in the index is not changed, whatever its id looks like as text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (text, salt) => {
      const content = `${text}${salt}`
      fc.pre(!content.includes('\ufffd') && content.isWellFormed())
      const found = tracked({ '.env': content, 'a/b.pem': 'other' }, { '.env': content, 'a/b.pem': 'mine' })
      expect(found?.isChanged(`${root}/.env`)).toBe(false)
      expect(found?.isChanged(`${root}/a/b.pem`)).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test('a file that is not in the index is neither tracked nor changed', () => {
  const found = tracked({ '.env.example': 'A=\n' }, { '.env': 'A=1\n' })
  expect([found?.has(`${root}/.env`), found?.isChanged(`${root}/.env`)]).toEqual([false, false])
  expect(found?.has(`${root}/.env.example`)).toBe(true)
})

test('content that is not text never counts as changed, and a missing file does', () => {
  const found = tracked({ 'a.key': 'x', 'b.key': 'x' }, { 'a.key': '\ufffd\ufffd' })
  expect([found?.isChanged(`${root}/a.key`), found?.isChanged(`${root}/b.key`)]).toEqual([false, true])
})

test('outside of a repository nothing is tracked', () => {
  expect(trackedFiles(madeUpWorld({ root, files: {} }), root)).toBeNull()
})
