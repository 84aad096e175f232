import { expect, test } from 'vitest'
import { isOwnRefusal, refusalMark, withRefusalMark } from './refusal-mark.ts'

test('a refusal has the mark once', () => {
  const marked = withRefusalMark('run the tests')
  expect(marked).toBe('Gantry guard: run the tests')
  expect(withRefusalMark(marked)).toBe(marked)
})

test.each([
  ['as it was sent', `${refusalMark} run the tests`],
  ['after the text of another hook', `Say please.\n${refusalMark} run the tests`],
  [
    'in the wrapping of Codex',
    `<hook_prompt hook_run_id="stop:7:/x/hooks.json">${refusalMark} run</hook_prompt>`,
  ],
  ['after context of Gemini CLI', `<hook_context>facts</hook_context>\n\n${refusalMark} run`],
])('recognizes a returned refusal: %s', (_, prompt) => {
  expect(isOwnRefusal(prompt)).toBe(true)
})

test.each(['', 'run the tests', `why does it say ${refusalMark} no?`, 'gantry guard: x'])(
  'does not take a user prompt for a refusal: %s',
  (prompt) => {
    expect(isOwnRefusal(prompt)).toBe(false)
  },
)
