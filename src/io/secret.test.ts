import { expect, test } from 'vitest'
import { digestSecret, newSecret, sameSecret } from './secret.ts'

test('secrets are long, different, and need no escaping in a path', () => {
  const secrets = Array.from({ length: 100 }, newSecret)
  expect(new Set(secrets).size).toBe(100)
  for (const secret of secrets) {
    expect(secret).toMatch(/^[\w-]{32}$/)
    expect(encodeURIComponent(secret)).toBe(secret)
  }
})

test('secrets of any length can be compared', () => {
  const kept = digestSecret('right')
  expect(sameSecret(kept, digestSecret('right'))).toBe(true)
  for (const wrong of ['', 'righ', 'right ', 'wrong', 'r'.repeat(10_000)])
    expect(sameSecret(kept, digestSecret(wrong))).toBe(false)
})
