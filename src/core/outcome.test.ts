import { expect, test } from 'vitest'
import { outcomeOf } from './outcome.ts'
import type { GateResult, JudgeResult } from './trial.ts'

const gate = (passed: boolean, type = 'file_exists', message = 'notes.txt is not there'): GateResult => ({
  type,
  passed,
  message,
  detail: {},
})

const judge = (weighted_score: number, issues: string[] = []): JudgeResult => ({
  model: 'scripted:judge.yaml',
  passed: weighted_score >= 0.7,
  threshold: 0.7,
  weighted_score,
  scores: {},
  confidence: 1,
  issues,
  highlights: [],
  samples: [],
  agreement: null,
  costUsd: 0,
})

test('all gates passed and no judge is a pass that names the gates', () => {
  expect(outcomeOf([gate(true), gate(true)], null)).toEqual({ verdict: 'pass', reason: 'all 2 gates passed' })
})

test('one failed gate fails and is named with its message', () => {
  expect(outcomeOf([gate(true), gate(false), gate(true)], null)).toEqual({
    verdict: 'fail',
    reason: '1 of 3 gates failed: file_exists: notes.txt is not there',
  })
})

test('many failed gates are named up to three, and long messages cut', () => {
  const many = Array.from({ length: 5 }, () => gate(false, 'script', `a\n${'b'.repeat(5_000)}`))
  const { reason } = outcomeOf(many, null)
  expect(reason).toContain('5 of 5 gates failed: script: a bbb')
  expect(reason).toContain('and 2 more')
  expect(reason.length).toBeLessThan(800)
  expect(reason).not.toContain('\n')
})

test('the judge must pass as well', () => {
  expect(outcomeOf([gate(true)], judge(0.8)).verdict).toBe('pass')
  expect(outcomeOf([gate(true)], judge(0.5, ['no tags']))).toEqual({
    verdict: 'fail',
    reason: 'the judge gave 0.50, below the threshold of 0.70: no tags',
  })
})

test('a score just below the threshold is not printed as the threshold', () => {
  expect(outcomeOf([], judge(0.6999)).reason).toContain('gave 0.699, below the threshold of 0.70')
})

test('a failed gate fails the trial regardless of the judge', () => {
  expect(outcomeOf([gate(false)], judge(1)).verdict).toBe('fail')
})

test('a case without checks passes and reports that nothing was checked', () => {
  expect(outcomeOf([], null)).toEqual({
    verdict: 'pass',
    reason: 'nothing was checked: the case has neither a gate nor a judge that scores',
  })
})
