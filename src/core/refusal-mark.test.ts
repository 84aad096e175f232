import { expect, test } from 'vitest'
import { isOwnRefusal, refusalMark, withRefusalMark } from './refusal-mark.ts'

test('a refusal carries the mark once', () => {
  const marked = withRefusalMark('run the tests')
  expect(marked).toBe('Gantry guard: run the tests')
  expect(withRefusalMark(marked)).toBe(marked)
})

test.each([
  ['as it was sent', `${refusalMark} run the tests`],
  ['behind what another hook said', `Say please.\n${refusalMark} run the tests`],
  [
    'in the wrapping of Codex',
    `<hook_prompt hook_run_id="stop:7:/x/hooks.json">${refusalMark} run</hook_prompt>`,
  ],
  ['behind context of Gemini CLI', `<hook_context>facts</hook_context>\n\n${refusalMark} run`],
])('a refusal that comes back is known: %s', (_, prompt) => {
  expect(isOwnRefusal(prompt)).toBe(true)
})

test.each(['', 'run the tests', `why does it say ${refusalMark} no?`, 'gantry guard: x'])(
  'a prompt of a person is none: %s',
  (prompt) => {
    expect(isOwnRefusal(prompt)).toBe(false)
  },
)
