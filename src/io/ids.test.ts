import { expect, test } from 'vitest'
import { systemClock } from './clock.ts'
import { newRunId, randomSuffix } from './ids.ts'

test('a run id has the time in UTC and a random suffix', () => {
  const clock = { now: () => new Date('2026-03-04T05:06:07.891Z') }
  expect(newRunId(clock)).toMatch(/^run_20260304_050607_[a-z0-9]{6}$/)
  expect(newRunId(clock)).not.toBe(newRunId(clock))
})

test('without a clock the time is now', () => {
  const before = systemClock.now().toISOString().slice(0, 10).replaceAll('-', '')
  const after = newRunId().slice(4, 12)
  expect([before, systemClock.now().toISOString().slice(0, 10).replaceAll('-', '')]).toContain(after)
})

test('random suffixes have the asked length, a plain alphabet and no repetition in thousands', () => {
  const many = Array.from({ length: 5000 }, () => randomSuffix(12))
  expect(new Set(many).size).toBe(5000)
  expect(many.every((suffix) => /^[a-z0-9]{12}$/.test(suffix))).toBe(true)
  expect(new Set(many.join('')).size).toBe(36)
})
