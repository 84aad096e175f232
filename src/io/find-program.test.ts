import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { ownProgram } from './find-program.ts'

test.each([
  ['src/hook-bin.ts', 'src/bin.ts'],
  ['node_modules/.cache/gantry/hook-1-1/hook-bin.js', 'src/bin.ts'],
  ['dist/hook/hook-bin.js', 'dist/cli/bin.js'],
  ['dist/cli/bin.js', 'dist/cli/bin.js'],
  ['dist/plugins/gantry-guard/dist/hook-bin.js', 'dist/cli/bin.js'],
])('what %s belongs to is %s', async (script, program) => {
  await using fixture = await createFixture({ 'src/bin.ts': '', 'dist/cli/bin.js': '' })
  expect(ownProgram(fixture.getPath(script))).toEqual([process.execPath, fixture.getPath(program)])
})

test('a hook program that was copied elsewhere belongs to none', async () => {
  await using fixture = await createFixture({ 'plugin/dist/hook-bin.js': '' })
  expect(ownProgram(fixture.getPath('plugin/dist/hook-bin.js'))).toBeNull()
  expect(ownProgram('/nowhere/hook-bin.js')).toBeNull()
})
