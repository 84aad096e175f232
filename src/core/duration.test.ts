import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDuration, parseDuration, parseDurationFlag } from './duration.ts'
import { GantryError } from './error.ts'

describe('parseDuration', () => {
  test.each([
    ['500ms', 500],
    ['90s', 90_000],
    ['20m', 1_200_000],
    ['1h', 3_600_000],
    ['1.5h', 5_400_000],
    ['30d', 2_592_000_000],
    ['0s', 0],
    [' 7d ', 604_800_000],
  ])('reads %j', (text, expected) => {
    expect(parseDuration(text)).toBe(expected)
  })

  test.each([
    '',
    '30',
    'd',
    '-1d',
    '1 d',
    '1D',
    '1w',
    '1h30m',
    '.5h',
    '1.h',
    '1e3s',
    'Infinityd',
    '١d',
    `${'9'.repeat(400)}d`,
  ])('refuses %j', (text) => {
    expect(parseDuration(text)).toBeNull()
  })

  test('always returns null or a safe, non-negative integer', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[0-9.]{0,25}(ms|[smhd])$/)), (text) => {
        const parsed = parseDuration(text)
        expect(parsed === null || (Number.isSafeInteger(parsed) && parsed >= 0)).toBe(true)
      }),
    )
  })

  test('a longer text of the same unit is a longer time', () => {
    fc.assert(
      fc.property(
        fc.nat(100_000),
        fc.nat(100_000),
        fc.constantFrom('ms', 's', 'm', 'h', 'd'),
        (a, b, unit) => {
          const [left, right] = [parseDuration(`${a}${unit}`), parseDuration(`${b}${unit}`)]
          expect(Math.sign((left ?? NaN) - (right ?? NaN))).toBe(Math.sign(a - b))
        },
      ),
    )
  })
})

describe('parseDurationFlag', () => {
  test('a number without a unit is a usage error that shows how to write it', () => {
    const error = errorOf(() => parseDurationFlag('--older-than', '30'))
    expect(error.code).toBe('USAGE')
    expect(error.message).toContain('--older-than "30"')
    expect(error.hint).toContain('30d')
  })

  test('nonsense is a usage error', () => {
    expect(errorOf(() => parseDurationFlag('--older-than', 'soon')).code).toBe('USAGE')
  })

  test('a valid duration is accepted', () => {
    expect(parseDurationFlag('--older-than', '15m')).toBe(900_000)
  })
})

describe('formatDuration', () => {
  test.each([
    [0, '0ms'],
    [340, '340ms'],
    [999.6, '1.0s'],
    [4_200, '4.2s'],
    [59_960, '1m'],
    [125_000, '2m 5s'],
    [3_599_600, '1h'],
    [5_400_000, '1h 30m'],
    [86_399_000, '1d'],
    [100 * 3_600_000, '4d 4h'],
    [-5, '0ms'],
  ])('writes %d as %s', (durationMs, expected) => {
    expect(formatDuration(durationMs)).toBe(expected)
  })

  test('is at most 5% off, and never shows sixty of a unit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), (durationMs) => {
        const text = formatDuration(durationMs)
        const back = text.split(' ').reduce((sum, part) => sum + (parseDuration(part) ?? NaN), 0)
        expect(Math.abs(back - durationMs)).toBeLessThanOrEqual(durationMs / 20)
        expect(text).not.toMatch(/\b60(\.0)?s|\b60m|\b24h/)
      }),
    )
  })
})

function errorOf(action: () => unknown): GantryError {
  try {
    action()
  } catch (error) {
    if (error instanceof GantryError) return error
  }
  throw new Error('expected a GantryError')
}
