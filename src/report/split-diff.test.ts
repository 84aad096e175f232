import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitDiff } from './split-diff.ts'

test('each file of a diff has its own part and counts', () => {
  const diff =
    '--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n--- /dev/null\n+++ b.txt\n@@ -0,0 +1,1 @@\n+x\n'
  expect(splitDiff(diff).files).toEqual([
    expect.objectContaining({ path: 'a.txt', added: 1, removed: 1 }),
    expect.objectContaining({ path: 'b.txt', added: 1, removed: 0 }),
  ])
})

test('files that a diff has no room for are counted, and are no part of its last file', () => {
  const diff = '--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-old\n+new\n'
  expect(splitDiff(`${diff}# 1,251 more files changed\n`)).toEqual({ ...splitDiff(diff), more: 1_251 })
  const added = '--- a.md\n+++ a.md\n@@ -1,1 +1,1 @@\n-old\n+# 9 more files changed\n'
  expect(splitDiff(added)).toMatchObject({ files: [{ text: added }], more: 0 })
})

test('a removed line that looks like the head of a file is no file', () => {
  const diff = '--- a.sql\n+++ a.sql\n@@ -1,2 +1,1 @@\n--- drop it\n keep\n'
  expect(splitDiff(diff).files).toEqual([expect.objectContaining({ path: 'a.sql', removed: 1 })])
})

test('the parts of any diff are the diff', () => {
  const line = fc.constantFrom('a', '', '-- x', '++ y', '@@ -1 +1 @@', 'diff ', 'Binary files ')
  const text = fc.array(line, { minLength: 1, maxLength: 8 }).map((lines) => `${lines.join('\n')}\n`)
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 4 }), (pairs) => {
      const different = pairs.filter(([before, after]) => before !== after)
      const diff = different
        .map(([before, after], at) =>
          createTwoFilesPatch(`f${at}`, `f${at}`, before, after).replace(/^.*?(?=--- )/s, ''),
        )
        .join('')
      const { files } = splitDiff(diff)
      expect(files.map(({ path }) => path)).toEqual(different.map((_, at) => `f${at}`))
      expect(files.map((file) => file.text).join('')).toBe(diff)
    }),
  )
})
