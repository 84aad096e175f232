import fc from 'fast-check'
import { expect, test } from 'vitest'
import { answerSchema, sampleOf, weightedScore } from './answer.ts'
import type { Rubric } from './rubric.ts'

const rubric: Rubric = {
  criteria: [
    { id: 'a', weight: 0.25, description: 'd' },
    { id: 'b', weight: 0.3, description: 'd' },
    { id: 'c', weight: 0.3, description: 'd' },
    { id: 'd', weight: 0.15, description: 'd' },
  ],
}
const context = {
  taskPrompt: 'Write a note.',
  gates: [],
  finalMessage: 'All is done.',
  transcript: '$ jot add\nadded:   one',
  files: [{ path: 'notes.md', change: 'created', content: '# Title\nbody' }],
} as const
const scores = { a: 1, b: 0.5, c: 0, d: 1 }

test('the weighted score is computed from the scores, not taken from the model', () => {
  const answer = answerSchema(rubric).parse({ scores, confidence: 0.9, weighted_score: 1 })
  expect(sampleOf(answer, rubric, context)).toEqual({
    kind: 'scored',
    weighted_score: 0.55,
    scores,
    confidence: 0.9,
    issues: [],
    highlights: [],
  })
})

test('only quotes that are in the evidence are kept, with the file they are from', () => {
  const quotes = {
    a: ['added: one', 'never printed', 'x'],
    b: ['| # Title\n| body'],
    invented: ['All is done.'],
  }
  const answer = answerSchema(rubric).parse({ scores, confidence: 1, quotes })
  expect(sampleOf(answer, rubric, context).quotes).toEqual([
    { criterion: 'a', text: 'added: one' },
    { criterion: 'b', text: '| # Title\n| body', file: 'notes.md' },
  ])
  const broken = answerSchema(rubric).parse({ scores, confidence: 1, quotes: ['a'] })
  expect(sampleOf(broken, rubric, context)).not.toHaveProperty('quotes')
})

test('an invalid weighted score is ignored', () => {
  expect(answerSchema(rubric).safeParse({ scores, confidence: 1, weighted_score: 'high' }).success).toBe(true)
})

test('invented criteria are dropped', () => {
  const answer = answerSchema(rubric).parse({ scores: { ...scores, style: 1 }, confidence: 1 })
  expect(answer.scores).toEqual(scores)
})

test.each([
  [{ scores: { a: 1, b: 1, c: 1 }, confidence: 1 }],
  [{ scores: { ...scores, a: 4 }, confidence: 1 }],
  [{ scores: { ...scores, a: -0.1 }, confidence: 1 }],
  [{ scores: { ...scores, a: '1' }, confidence: 1 }],
  [{ scores }],
  [{ scores, confidence: 80 }],
  [{ scores, confidence: 1, issues: 'none' }],
  [{}],
])('%j is not an answer', (answer) => {
  expect(answerSchema(rubric).safeParse(answer).success).toBe(false)
})

test('fields required by the rubric must be present', () => {
  const demanding = answerSchema({
    ...rubric,
    output: { format: 'json', require_fields: ['issues', 'reasoning'] },
  })
  expect(demanding.safeParse({ scores, confidence: 1 }).success).toBe(false)
  expect(demanding.safeParse({ scores, confidence: 1, issues: [] }).success).toBe(false)
  expect(demanding.safeParse({ scores, confidence: 1, issues: [], reasoning: 'because' }).success).toBe(true)
})

test('equal scores give exactly that score, so a threshold can be reached', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 100 }), (points) => {
      const score = points / 100
      expect(weightedScore({ a: score, b: score, c: score, d: score }, rubric)).toBe(score)
    }),
  )
})

test('full marks are 1 even if the weights do not sum to 1', () => {
  const thirds: Rubric = { criteria: ['a', 'b', 'c'].map((id) => ({ id, weight: 0.33, description: 'd' })) }
  expect(weightedScore({ a: 1, b: 1, c: 1 }, thirds)).toBe(1)
})
