import { expect, test } from 'vitest'
import { hookArguments } from './run-hook.ts'

test('the agent, the event and the version are read wherever they stand', () => {
  const expected = { agent: 'codex', event: 'Stop', agentVersion: '1.2' }
  expect(hookArguments(['--agent', 'codex', 'Stop', '--agent-version', '1.2'])).toEqual(expected)
  expect(hookArguments(['Stop', '--agent-version=1.2', '--agent=codex'])).toEqual(expected)
  expect(hookArguments(['--agent', 'codex'])).toEqual({ agent: 'codex', event: null, agentVersion: null })
})

test.each([
  [[]],
  [['Stop']],
  [['--agent']],
  [['--agent=']],
  [['--agent', 'a', '--agent', 'b']],
  [['--agent', 'a', 'Stop', 'PreToolUse']],
  [['--agent', 'a', '--help']],
])('%j makes no sense, and a sentence says why', (argv) => {
  expect(hookArguments(argv)).toBeTypeOf('string')
})
