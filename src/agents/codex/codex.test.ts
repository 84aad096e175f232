import { expect, test } from 'vitest'
import { codex } from './codex.ts'

test.each<[Readonly<Record<string, string>>, boolean | null]>([
  [{ OPENAI_API_KEY: 'x' }, true],
  [{ CODEX_API_KEY: 'x' }, true],
  [{ OPENAI_API_KEY: '' }, null],
  [{}, null],
])('with %j it is let in: %s', (env, expected) => {
  expect(codex.isAuthenticated?.(env)).toBe(expected)
})
