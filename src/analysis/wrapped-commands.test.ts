import { expect, test } from 'vitest'
import { readWrappedCommands } from '../../test/support/wrapped-commands.ts'
import { findInvocations } from './invocations.ts'

test('a use of the tool inside a wrapper is counted', async () => {
  const corpus = readWrappedCommands()
  const found = await Promise.all(
    corpus.map(async ({ command }) => {
      const { invocations } = await findInvocations([{ command, tool: 'Bash', ts: 0 }], { binary: 'tool' })
      return { command, metrics: invocations.map((each) => each.command) }
    }),
  )
  expect(found).toEqual(
    corpus.map(({ command, metrics }) => ({ command, metrics: metrics === null ? [] : [metrics] })),
  )
})
