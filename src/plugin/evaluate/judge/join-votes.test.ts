import { expect, test } from 'vitest'
import type { JudgeVote } from '../contract.ts'
import { type AggregateMethod, joinVotes, type ScoredVote } from './join-votes.ts'

const vote = (quality_score: number, change: Partial<ScoredVote> = {}): ScoredVote => ({
  kind: 'scored',
  quality_score,
  response_relevance: quality_score,
  trigger_accuracy: 'correct',
  triggered: true,
  issues: [],
  highlights: [],
  summary: `worth ${quality_score}`,
  ...change,
})
const failed: JudgeVote = { kind: 'error', message: 'overloaded' }

const joined = (votes: readonly JudgeVote[], method: AggregateMethod = 'average') =>
  joinVotes(votes, { method, model: 'm', cost_usd: 0.1, batched: false, dropped_citations: 0 })

test.each([
  ['average', 6],
  ['median', 5],
  ['consensus', 4],
] as const)('the %s of the scores', (method, expected) => {
  const judgement = joined(
    [4, 4, 5, 8, 9].map((score) => vote(score)),
    method,
  )
  expect([judgement.quality_score, judgement.response_relevance]).toEqual([expected, expected])
})

test('a consensus of several equally frequent scores is their mean', () => {
  expect(joined([vote(7), vote(8), vote(9)], 'consensus').quality_score).toBe(8)
  expect(joined([vote(2), vote(2), vote(6), vote(6), vote(9)], 'consensus').quality_score).toBe(4)
})

test('an error is kept and enters no score, no variance and no majority', () => {
  const judgement = joined([vote(9), failed, vote(9, { triggered: true })])
  expect(judgement).toMatchObject({
    quality_score: 9,
    score_variance: 0,
    triggered: true,
    is_unanimous: true,
    confidence_level: 'high',
  })
  expect(judgement.votes).toContainEqual(failed)
})

test('without answers there is no score, no verdict and no confidence', () => {
  expect(joined([failed, failed])).toMatchObject({
    quality_score: null,
    response_relevance: null,
    trigger_accuracy: null,
    triggered: null,
    score_variance: 0,
    is_unanimous: false,
    confidence_level: 'low',
    summary: '',
    votes: [failed, failed],
  })
})

test('most votes decide accuracy and trigger, and a tie decides nothing good', () => {
  const no = { trigger_accuracy: 'incorrect', triggered: false, summary: 'no' } as const
  expect(joined([vote(5, no), vote(5), vote(5, no)])).toMatchObject({
    trigger_accuracy: 'incorrect',
    triggered: false,
    summary: 'no',
    is_unanimous: false,
  })
  expect(joined([vote(5), vote(5, no)])).toMatchObject({ trigger_accuracy: 'incorrect', triggered: null })
  const partial = { trigger_accuracy: 'partial' } as const
  expect(joined([vote(5), vote(5, partial)])).toMatchObject({ trigger_accuracy: 'partial', triggered: true })
})

test.each([
  [[8, 8, 8], 0, 'high'],
  [[7, 8], 0.25, 'high'],
  [[7, 9], 1, 'medium'],
  [[6, 8.4], 1.44, 'medium'],
  [[6, 9], 2.25, 'low'],
] as const)(
  'scores %j have the variance %d of a population and give %s confidence',
  (scores, expected, level) => {
    const judgement = joined(scores.map((score) => vote(score)))
    expect(judgement.score_variance).toBe(expected)
    expect(judgement.confidence_level).toBe(level)
  },
)

test('judges that agree on the score and not on the trigger give no high confidence', () => {
  expect(joined([vote(8), vote(8), vote(8, { trigger_accuracy: 'partial' })]).confidence_level).toBe('medium')
})

test('issues and citations are listed once each', () => {
  const cited = { description: 'd', message_id: 'a', quoted_text: 'x' }
  const judgement = joined([
    vote(8, { issues: ['slow'], highlights: [cited] }),
    vote(8, { issues: ['slow', 'rude'], highlights: [cited, { ...cited, message_id: 'b' }] }),
  ])
  expect(judgement.issues).toEqual(['slow', 'rude'])
  expect(judgement.highlights.map(({ message_id }) => message_id)).toEqual(['a', 'b'])
})
