import { expect, test } from 'vitest'
import { runVerdict } from './run-verdict.ts'
import type { RunVerdict } from './summary.ts'

const rows: [
  string,
  { pass?: number; fail?: number; infra?: number; invalid?: number; notRun?: number },
  RunVerdict,
][] = [
  ['all passed', { pass: 3 }, 'pass'],
  ['one failed', { pass: 99, fail: 1 }, 'fail'],
  ['infra within the bound is left out', { pass: 95, infra: 5 }, 'pass'],
  ['infra above the bound', { pass: 94, infra: 6 }, 'infra'],
  ['infra above the bound with a failure', { pass: 1, fail: 1, infra: 1 }, 'infra'],
  ['infra within the bound with a failure', { pass: 98, fail: 1, infra: 1 }, 'fail'],
  ['nothing but infra', { infra: 1 }, 'infra'],
  ['nothing but invalid', { invalid: 2 }, 'invalid'],
  ['an invalid case among passes', { pass: 5, invalid: 1 }, 'invalid'],
  ['an invalid case beside a failure', { fail: 1, invalid: 1 }, 'fail'],
  ['an invalid case in a run cut short', { pass: 1, invalid: 1, notRun: 4 }, 'invalid'],
  ['cut short', { pass: 1, notRun: 4 }, 'partial'],
  ['cut short after a failure', { fail: 1, notRun: 4 }, 'fail'],
  ['cut short before the first trial', { notRun: 4 }, 'partial'],
  ['nothing planned', {}, 'inconclusive'],
]

test.each(rows)('%s', (_, { notRun = 0, ...counts }, verdict) => {
  const all = { pass: 0, fail: 0, infra: 0, invalid: 0, ...counts }
  expect(runVerdict({ counts: all, notRun, maxInfraRate: 0.05 })).toBe(verdict)
})

test('failures within the threshold leave a pass, and what else is wrong still shows', () => {
  const counts = { pass: 9, fail: 1, infra: 0, invalid: 0 }
  const facts = { counts, notRun: 0, maxInfraRate: 0.05, belowThreshold: false }
  expect(runVerdict(facts)).toBe('pass')
  expect(runVerdict({ ...facts, belowThreshold: true })).toBe('fail')
  expect(runVerdict({ ...facts, notRun: 1 })).toBe('partial')
  expect(runVerdict({ ...facts, counts: { ...counts, invalid: 1 } })).toBe('invalid')
})

test('a run of nothing but infra is infra even when any share is allowed', () => {
  const counts = { pass: 0, fail: 0, infra: 3, invalid: 0 }
  expect(runVerdict({ counts, notRun: 0, maxInfraRate: 1 })).toBe('infra')
  expect(runVerdict({ counts: { ...counts, pass: 1 }, notRun: 0, maxInfraRate: 1 })).toBe('pass')
})
