import { expect, test, vi } from 'vitest'
import type { CliContext } from './context.ts'
import { usualVerifyFlags } from './usual-verify-flags.ts'
import { verifyCommand } from './verify.ts'

test.each([
  [],
  ['--json'],
  ['-v', '--json'],
  ['--verbose', '--sandbox', 'bubblewrap'],
  ['--sandbox', 'host', '--sandbox', 'auto'],
])('the flags %j are read as by the command itself', async (...words) => {
  const action = vi.fn()
  const command = verifyCommand({} as CliContext).action(action)
  await command.parseAsync(words, { from: 'user' })
  expect(usualVerifyFlags(['verify', ...words])).toEqual(action.mock.calls[0]?.[0])
})

test.each([
  ['verify', '--sandbox'],
  ['verify', '--sandbox', 'other'],
  ['verify', '--sandbox=host'],
  ['verify', '--root', '.'],
  ['verify', '--help'],
  ['verify', '-vh'],
  ['verify', 'x'],
  ['test', '--json'],
  [],
])('%j is left to the command', (...argv) => {
  expect(usualVerifyFlags(argv)).toBeNull()
})
