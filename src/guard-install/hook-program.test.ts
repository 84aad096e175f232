import { utimesSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { hookBinPath } from './hook-program.ts'

const checkout = {
  'src/hook-bin.ts': '',
  'src/rules/deep/rule.ts': '',
  'node_modules/.cache/gantry/hook-bin.js': '',
}

test('the published program is the one beside the program itself', async () => {
  await using fixture = await createFixture({ 'hook/hook-bin.js': '', 'cli/bin.js': '' })
  expect(hookBinPath(fixture.getPath('cli'))).toBe(fixture.getPath('hook/hook-bin.js'))
})

test('in a checkout a bundle counts only while it is newer than every file it was made of', async () => {
  await using fixture = await createFixture(checkout)
  const from = fixture.getPath('src/rules')
  const bundle = fixture.getPath('node_modules/.cache/gantry/hook-bin.js')
  utimesSync(bundle, new Date(), new Date(Date.now() + 60_000))
  expect(hookBinPath(from)).toBe(bundle)
  utimesSync(fixture.getPath('src/rules/deep/rule.ts'), new Date(), new Date(Date.now() + 120_000))
  expect(hookBinPath(from)).toBe(fixture.getPath('src/hook-bin.ts'))
})

test('without any it says so', () => {
  expect(() => hookBinPath('/nonexistent/gantry')).toThrow('the program that the hooks start is not there')
})
