import { expect, test } from 'vitest'
import { isAuthenticated } from '../cli/probe.ts'
import { codex } from './codex.ts'

test.each<[Readonly<Record<string, string>>, boolean | null]>([
  [{ OPENAI_API_KEY: 'x' }, true],
  [{ CODEX_API_KEY: 'x' }, true],
  [{ OPENAI_API_KEY: '' }, null],
  [{}, null],
])('with %j it is authenticated: %s', (env, expected) => {
  expect(isAuthenticated(codex, { home: 'host', env: {}, inherit_env: [] }, env)).toBe(expected)
})
