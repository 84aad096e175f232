import { expect, test } from 'vitest'
import { copilot } from './copilot.ts'
import { copilotAgentSchema } from './schema.ts'

test.each<[Readonly<Record<string, string>>, boolean | null]>([
  [{ COPILOT_GITHUB_TOKEN: 'x' }, true],
  [{ GITHUB_TOKEN: 'x' }, true],
  [{ COPILOT_PROVIDER_BASE_URL: 'http://127.0.0.1:1' }, true],
  [{ GH_TOKEN: '' }, null],
  [{}, null],
])('with %j it is let in: %s', (env, expected) => {
  expect(copilot.isAuthenticated?.(env)).toBe(expected)
})

test('what its plugins are is part of what it is', () => {
  const config = copilotAgentSchema.parse({ driver: 'copilot', plugins: ['./mine'] })
  expect(copilot.inputs?.(config)).toEqual(['./mine'])
})
