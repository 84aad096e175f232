import { expect, test } from 'vitest'
import { diffFiles } from './diff-files.ts'

test('a line that looks like a heading belongs to its file', () => {
  const lines = ['+++ i', '+next', ' same', '--- j']
  const diff = `diff --git a/a.js b/a.js\nindex 1..2 100644\n--- a/a.js\n+++ b/a.js\n@@ -1 +1 @@\n${lines.join('\n')}\n`
  const added = ['++ i', 'next']
  expect(diffFiles(diff)).toMatchObject([
    { path: 'a.js', added, removed: ['-- j'], shown: [...added, 'same'] },
  ])
})

test('a name with a quote is in quotes', () => {
  expect(diffFiles('--- "a/a\\".js"\n+++ "b/a\\".js"\n@@ -1 +1 @@\n+a\n')).toMatchObject([
    { path: 'a\\".js' },
  ])
})
