import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { createFixture } from 'fs-fixture'
import { expect, test } from 'vitest'
import { editByShell, readByShell, writeByShell } from './translate-call.ts'

const nasty = `it's "quoted" \`tick\` $HOME $(id) \\ %s ! * [a] {b}\n\ttab\r\nünï 漢字 🦀\n\n`

function sh(command: string, cwd: string): string {
  return execFileSync('sh', ['-c', command], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

test('a shell writes, edits and reads exactly the given text, with names that need quotes', async () => {
  await using fixture = await createFixture({})
  const path = "deep/it's a dir/-a $file.txt"
  sh(writeByShell(path, nasty), fixture.path)
  expect(await fixture.readFile(path, 'utf8')).toBe(nasty)
  expect(sh(readByShell(path), fixture.path)).toBe(nasty)
  sh(editByShell(path, '$(id) \\ %s ! * [a]', 'x\n'), fixture.path)
  expect(await fixture.readFile(path, 'utf8')).toBe(nasty.replace('$(id) \\ %s ! * [a]', () => 'x\n'))
})

test('an edit through a shell is exact for any text', async () => {
  await using fixture = await createFixture({})
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', "'", '"', '*', '?', '\\', '$', 'x', 'é') })
  fc.assert(
    fc.property(text, text, text, text, (before, old, after, replacement) => {
      const whole = `${before}<${old}>${after}`
      sh(writeByShell('f', whole), fixture.path)
      fc.pre(whole.split(`<${old}>`).length === 2)
      sh(editByShell('f', `<${old}>`, replacement), fixture.path)
      expect(sh(`${readByShell('f')}; printf x`, fixture.path)).toBe(`${before}${replacement}${after}x`)
    }),
    { numRuns: 15 },
  )
})

test.each([
  ['a text that does not occur', 'none', /not found/],
  ['a text that occurs twice', 'a', /more than once/],
])('an edit of %s fails and changes nothing', async (_, old, message) => {
  await using fixture = await createFixture({ f: 'a b a\n' })
  expect(() => sh(editByShell('f', old, 'c'), fixture.path)).toThrow(message)
  expect(await fixture.readFile('f', 'utf8')).toBe('a b a\n')
})

test('an edit of a missing file fails and creates none', async () => {
  await using fixture = await createFixture({})
  expect(() => sh(editByShell('f', 'a', 'b'), fixture.path)).toThrow()
  expect(await fixture.exists('f')).toBe(false)
})
