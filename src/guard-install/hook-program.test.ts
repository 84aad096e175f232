import { statSync, writeFileSync } from 'node:fs'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { bundledHook, hookBinPath } from './hook-program.ts'

test('the published program is beside the main program', async () => {
  await using fixture = await createFixture({ 'hook/hook-bin.js': '', 'cli/bin.js': '' })
  expect(hookBinPath(fixture.getPath('cli'))).toBe(fixture.getPath('hook/hook-bin.js'))
})

test('in a checkout it is the program that chooses between bundle and source', async () => {
  await using fixture = await createFixture({ 'bin/hook-bin.js': '', 'src/rules/rule.ts': '' })
  expect(hookBinPath(fixture.getPath('src/rules'))).toBe(fixture.getPath('bin/hook-bin.js'))
})

test('a bundle of a checkout counts only while all its sources are unchanged', async () => {
  await using fixture = await createFixture({
    'bin/hook-bin.js': '',
    'src/rules/rule.ts': 'one',
    'node_modules/.cache/gantry/hook-1-1/hook-bin.js': 'bundle',
  })
  const rule = fixture.getPath('src/rules/rule.ts')
  const { size, mtimeMs } = statSync(rule)
  await fixture.writeJson('node_modules/.cache/gantry/hook-bundle.json', {
    bundle: 'hook-1-1/hook-bin.js',
    size: 'bundle'.length,
    sources: [['src/rules/rule.ts', `${size}-${mtimeMs}`]],
  })
  const hookBin = fixture.getPath('bin/hook-bin.js')
  expect(bundledHook(hookBin)).toBe('bundle')
  writeFileSync(rule, 'two, and longer')
  expect(bundledHook(hookBin)).toBeNull()
})

test('the published program is a bundle', async () => {
  await using fixture = await createFixture({ 'hook/hook-bin.js': 'published' })
  expect(bundledHook(fixture.getPath('hook/hook-bin.js'))).toBe('published')
})

test('a missing program is an error', () => {
  expect(() => hookBinPath('/nonexistent/gantry')).toThrow('the hook program was not found')
})
