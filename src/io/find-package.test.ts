import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { findPackage } from './find-package.ts'

const files = {
  'node_modules/@some/tool/package.json': JSON.stringify({
    name: '@some/tool',
    version: '1.2.3',
    exports: { '.': { default: './lib/main.mjs' } },
  }),
  'node_modules/@some/tool/lib/main.mjs': 'export const answer = 42',
  'deep/er/file.txt': '',
}

test('a package is found from a directory upward, loaded, and has its version', async () => {
  await using fixture = await createFixture(files)
  for (const from of ['.', 'deep/er', 'node_modules/@some/tool', 'not/there']) {
    const found = findPackage('@some/tool', ['/nowhere', fixture.getPath(from)])
    expect(found).toMatchObject({ directory: fixture.getPath('node_modules/@some/tool'), version: '1.2.3' })
    expect(await found?.load()).toMatchObject({ answer: 42 })
  }
})

test('a package beside Gantry is found last, and a missing one is null', () => {
  expect(findPackage('zod', ['/nowhere'])?.version).toMatch(/^\d/)
  expect(findPackage('@some/package-that-is-not-there', ['/nowhere'])).toBeNull()
})

test('a package without a version has none', async () => {
  await using fixture = await createFixture({
    'node_modules/bare/package.json': '{"name":"bare","main":"main.js"}',
    'node_modules/bare/main.js': '',
  })
  expect(findPackage('bare', [fixture.path])).toMatchObject({ version: null })
})
