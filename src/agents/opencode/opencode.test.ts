import { expect, test } from 'vitest'
import { opencode } from './opencode.ts'

test.each<[Readonly<Record<string, string>>, boolean | null]>([
  [{ ANTHROPIC_API_KEY: 'x' }, true],
  [{ OPENAI_API_KEY: '' }, null],
  [{}, null],
])('with %j it is let in: %s', (env, expected) => {
  expect(opencode.isAuthenticated?.(env)).toBe(expected)
})
