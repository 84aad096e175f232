import { expect, test } from 'vitest'
import { patchedFiles } from './patched-files.ts'

test('files are named by what happens to them', () => {
  const patch = [
    '*** Begin Patch',
    '*** Add File: new.txt',
    '+hello',
    '*** Update File: src/a.ts',
    '*** Move to: src/b.ts',
    '@@ class A',
    ' context',
    '-old',
    '+new',
    '*** Delete File: gone.md',
    '*** End Patch',
  ].join('\n')
  expect(patchedFiles(patch)).toEqual([
    { path: 'new.txt', change: 'add' },
    { path: 'src/a.ts', change: 'update', to: 'src/b.ts' },
    { path: 'gone.md', change: 'delete' },
  ])
})

test('what is only content names no file', () => {
  expect(patchedFiles('*** Add File: a\n+*** Delete File: b\n-*** Add File: c')).toEqual([
    { path: 'a', change: 'add' },
  ])
})

test.each([
  ['indented', '   *** Delete File: .env'],
  ['with CRLF', '*** Begin Patch\r\n*** Delete File: .env\r\n*** End Patch\r\n'],
  ['in a here-document', "<<'EOF'\n*** Begin Patch\n*** Delete File: .env\n*** End Patch\nEOF"],
  ['without a frame', '*** Delete File:   .env  '],
])('a header is found %s', (_, patch) => {
  expect(patchedFiles(patch)).toEqual([{ path: '.env', change: 'delete' }])
})

test('a move of nothing, and a second one, still name what would be written', () => {
  expect(patchedFiles('*** Move to: .env')).toEqual([{ path: '.env', change: 'add' }])
  expect(patchedFiles('*** Update File: a\n*** Move to: b\n*** Move to: .env')).toEqual([
    { path: 'a', change: 'update', to: 'b' },
    { path: '.env', change: 'add' },
  ])
})
