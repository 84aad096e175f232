import { expect, test } from 'vitest'
import { createNotes } from './notes.ts'

test('findings are sorted by severity, then by file; duplicates are dropped', () => {
  const notes = createNotes()
  const remark = (path: string, line: number) => ({ message: 'm', suggestion: 's.', path, line })
  notes.add('HOOK_TIMEOUT', remark('b', 1))
  notes.add('HOOK_INVALID', remark('b', 2))
  notes.add('HOOK_INVALID', remark('b', 2))
  notes.add('HOOK_INVALID', remark('a', 9))
  notes.add('HOOK_MODULES', remark('a', 1))
  expect(notes.findings().map(({ code, path, line }) => [code, path, line])).toEqual([
    ['HOOK_INVALID', 'a', 9],
    ['HOOK_INVALID', 'b', 2],
    ['HOOK_TIMEOUT', 'b', 1],
    ['HOOK_MODULES', 'a', 1],
  ])
})

test('a problem that occurs thousands of times is reported at most 500 times, with a count of the rest', () => {
  const notes = createNotes()
  for (let line = 1; line <= 1_200; line += 1)
    notes.add('UNKNOWN_TOOL', { message: 'm', suggestion: 's.', path: 'a', line })
  const findings = notes.findings()
  expect(findings.length).toBe(501)
  expect(findings.at(-1)).toMatchObject({
    severity: 'info',
    message: '700 more findings of this kind are not shown',
  })
})
