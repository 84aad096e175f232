import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newRunId } from '../io/ids.ts'
import { parseRunId } from './run-id.ts'

describe('parseRunId', () => {
  test('parses every generated id, to the second', () => {
    const dates = fc.date({ min: new Date('1970-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    fc.assert(
      fc.property(dates, (now) => {
        const parsed = parseRunId(newRunId({ now: () => now }))
        expect(parsed?.format).toBe('current')
        expect(parsed?.startedAtMs).toBe(Math.floor(now.getTime() / 1_000) * 1_000)
      }),
    )
  })

  test.each([
    ['run-20250131-235959-123', 'fraction', '2025-01-31T23:59:59.123Z'],
    ['run-20250131-235959-123456789', 'fraction', '2025-01-31T23:59:59.123Z'],
    ['20250131-235959-claude-code-default-note_capture', 'descriptive', '2025-01-31T23:59:59.000Z'],
    ['20240229-000000-opencode-openai_gpt-4o-basic', 'descriptive', '2024-02-29T00:00:00.000Z'],
    ['20250102-120000-ab3d', 'short', '2025-01-02T12:00:00.000Z'],
    ['20250102-120000-_-aZ', 'short', '2025-01-02T12:00:00.000Z'],
  ])('accepts the older id %s', (id, format, startedAt) => {
    expect(parseRunId(id)).toEqual({ id, format, startedAtMs: Date.parse(startedAt) })
  })

  test.each([
    'run_20250230_120000_abcdef',
    'run_20231329_120000_abcdef',
    'run_20230229_120000_abcdef',
    'run_20250101_240000_abcdef',
    'run_20250101_126000_abcdef',
    'run_20250101_120060_abcdef',
    'run-20250230-120000-1',
    '20250230-120000-tool-model-case',
  ])('refuses %s because the date or time does not exist', (id) => {
    expect(parseRunId(id)).toBeNull()
  })

  test.each([
    '',
    'latest',
    'run_20250101_120000_ABCDEF',
    'run_20250101_120000_abcde',
    'run_20250101_120000_abcdefg',
    'run_20250101_120000_abcdef/..',
    'run_20250101_120000_abcdef\n',
    'task_20250101_120000_abcdef',
    'run-20250101-120000-',
    '20250101-120000-tool-model',
    '20250101-120000---',
    '20250101-120000-a-b-../c',
    '.trash-run_20250101_120000_abcdef',
    'node_modules',
  ])('refuses %j because it is not a run id', (id) => {
    expect(parseRunId(id)).toBeNull()
  })

  test('an accepted name is always one path segment', () => {
    fc.assert(
      fc.property(fc.string(), (tail) => {
        const parsed = parseRunId(`20250101-120000-${tail}`)
        if (parsed !== null) expect(parsed.id).not.toMatch(/[/\\\0]/)
      }),
    )
  })
})
