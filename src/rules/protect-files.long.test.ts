import { expect, test } from 'vitest'
import { tryBypasses, verifiableBypasses } from './protect-files.conformance.ts'

test('every bypass in the corpus changes a protected file in a real shell', async () => {
  expect(await tryBypasses(verifiableBypasses())).toBeGreaterThanOrEqual(250)
})
