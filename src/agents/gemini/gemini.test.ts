import { expect, test } from 'vitest'
import { isAuthenticated } from '../cli/probe.ts'
import { gemini } from './gemini.ts'

test.each<[Readonly<Record<string, string>>, boolean | null]>([
  [{ GEMINI_API_KEY: 'x' }, true],
  [{ GOOGLE_GENAI_USE_VERTEXAI: 'true', GOOGLE_APPLICATION_CREDENTIALS: '/key.json' }, true],
  [{ GOOGLE_GENAI_USE_VERTEXAI: 'true' }, null],
  [{ GEMINI_API_KEY: '' }, null],
  [{}, null],
])('with %j it is authenticated: %s', (env, expected) => {
  expect(isAuthenticated(gemini, { home: 'host', env: {}, inherit_env: [] }, env)).toBe(expected)
})
