import { expect, test } from 'vitest'
import { isAuthenticated } from '../cli/probe.ts'
import { copilot } from './copilot.ts'
import { copilotAgentSchema } from './schema.ts'

test.each<[Readonly<Record<string, string>>, boolean | null]>([
  [{ COPILOT_GITHUB_TOKEN: 'x' }, true],
  [{ GITHUB_TOKEN: 'x' }, true],
  [{ COPILOT_PROVIDER_BASE_URL: 'http://127.0.0.1:1' }, true],
  [{ GH_TOKEN: '' }, null],
  [{}, null],
])('with %j it is authenticated: %s', (env, expected) => {
  expect(isAuthenticated(copilot, { home: 'host', env: {}, inherit_env: [] }, env)).toBe(expected)
})

test('its plugins are part of its fingerprint', () => {
  const config = copilotAgentSchema.parse({ driver: 'copilot', plugins: ['./mine'] })
  expect(copilot.inputs?.(config)).toEqual(['./mine'])
})
