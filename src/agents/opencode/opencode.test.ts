import { expect, test } from 'vitest'
import { isAuthenticated } from '../cli/probe.ts'
import { opencode } from './opencode.ts'

test.each<[Readonly<Record<string, string>>, boolean | null]>([
  [{ ANTHROPIC_API_KEY: 'x' }, true],
  [{ OPENAI_API_KEY: '' }, null],
  [{}, null],
])('with %j it is authenticated: %s', (env, expected) => {
  expect(isAuthenticated(opencode, { home: 'host', env: {}, inherit_env: [] }, env)).toBe(expected)
})
