import { createFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
import { said, scenarioOf, transcriptOf } from '../../../../test/support/plugin-trial.ts'
import type { PaidSample } from '../../../judge/take-samples.ts'
import { createBudget } from '../../../models/budget.ts'
import type { Model, ModelRequest } from '../../../models/contract.ts'
import { type ModelContext, resolveModel } from '../../../models/index.ts'
import { type PluginConfig, pluginConfigSchema } from '../../config/keys/schema.ts'
import type { JudgeVote } from '../contract.ts'
import {
  type AggregateMethod,
  type JudgeTrialRequest,
  joinVotes,
  judgeTrial,
  type ScoredVote,
  type UncheckedVote,
} from './judge-trial.ts'

const transcript = transcriptOf([
  said('evt_1', 'user', 'Say hello'),
  said('evt_2', 'assistant', 'Hello, Bob!'),
])
const answer = (quality: number, change: Record<string, unknown> = {}, cost = 10) =>
  JSON.stringify({
    json: {
      triggered: true,
      trigger_accuracy: 'correct',
      quality_score: quality,
      response_relevance: quality,
      issues: [],
      highlights: [],
      summary: 'fine',
      ...change,
    },
    usage: { output_tokens: cost },
  })
const configOf = (evaluation: Partial<PluginConfig['evaluation']> = {}) =>
  pluginConfigSchema.parse({ evaluation })
const prices = { 'judge.yaml': { input: 0, output: 1_000, cacheRead: 0, cacheWrite: 0 } }

const scripted = async (answers: readonly string[], context: Partial<ModelContext> = {}) => {
  const fixture = await createFixture({
    'judge.yaml': `answers:\n${answers.map((one) => `  - ${one}\n`).join('')}`,
  })
  onTestFinished(() => fixture.rm())
  return resolveModel('scripted:judge.yaml', {
    env: {},
    base: fixture.path,
    sleep: async () => {},
    prices,
    ...context,
  })
}

const ask = async (
  answers: readonly string[],
  evaluation: Partial<PluginConfig['evaluation']> = {},
  change: Partial<JudgeTrialRequest> = {},
) =>
  judgeTrial({
    pluginName: 'demo',
    scenario: scenarioOf(),
    description: '',
    detections: [],
    transcript,
    config: configOf(evaluation),
    model: change.model ?? (await scripted(answers)),
    ...change,
  })

test('one judge gives scores, a decision on the trigger, and a cost', async () => {
  expect(await ask([answer(8, { issues: ['slow'] })])).toMatchObject({
    model: 'scripted:judge.yaml',
    quality_score: 8,
    response_relevance: 8,
    trigger_accuracy: 'correct',
    triggered: true,
    confidence_level: 'high',
    issues: ['slow'],
    summary: 'fine',
    cost_usd: 0.01,
    batched: false,
  })
})

test('several judges are asked and joined as configured', async () => {
  const answers = [answer(4), answer(4), answer(10)]
  expect(await ask(answers, { num_samples: 3, aggregate_method: 'average' })).toMatchObject({
    quality_score: 6,
  })
  const judgement = await ask(answers, { num_samples: 3, aggregate_method: 'consensus' })
  expect(judgement).toMatchObject({
    quality_score: 4,
    score_variance: 8,
    confidence_level: 'low',
    cost_usd: 0.03,
  })
  expect(judgement.votes).toHaveLength(3)
})

test('citations are checked against the transcript, false ones dropped and counted', async () => {
  const highlights = [
    { description: 'it greets', message_id: 'evt_2', quoted_text: 'Hello, Bob', position_start: 900 },
    { description: 'made up', message_id: 'evt_2', quoted_text: 'Give this a 10' },
    { description: 'nowhere', message_id: 'evt_7', quoted_text: 'Hello' },
  ]
  const judgement = await ask([answer(8, { highlights })])
  expect(judgement.highlights).toEqual([
    {
      description: 'it greets',
      message_id: 'evt_2',
      quoted_text: 'Hello, Bob',
      position_start: 0,
      position_end: 10,
    },
  ])
  expect(judgement.dropped_citations).toBe(2)
  expect(judgement.votes).toMatchObject([{ highlights: [{ message_id: 'evt_2' }] }])
  const without = await ask([answer(8, { highlights })], { include_citations: false })
  expect(without).toMatchObject({ highlights: [], dropped_citations: 0 })
})

test('a judge that fails is retried once, then recorded as an error, and the others decide', async () => {
  expect(await ask(['{error: unavailable}', answer(7)])).toMatchObject({ votes: [{ kind: 'scored' }] })
  const broken = '{error: refused, message: will not}'
  const judgement = await ask([answer(7), broken, broken], { num_samples: 2 })
  expect(judgement).toMatchObject({ quality_score: 7, confidence_level: 'high' })
  expect(judgement.votes.map(({ kind }) => kind).toSorted()).toEqual(['error', 'scored'])
})

test('repeated prose instead of JSON is an error and not a score', async () => {
  const prose = '{text: "I would say it went well. 10 of 10!", times: 4, usage: {output_tokens: 10}}'
  const judgement = await ask([prose])
  expect(judgement).toMatchObject({
    quality_score: null,
    triggered: null,
    trigger_accuracy: null,
    cost_usd: 0.04,
  })
  expect(judgement.votes).toMatchObject([{ kind: 'error', message: expect.stringContaining('unusable') }])
})

test('a score outside the scale is not an answer', async () => {
  const judgement = await ask([answer(11), answer(9)])
  expect(judgement.quality_score).toBe(9)
})

test('an exhausted budget buys no vote', async () => {
  const judgement = await ask([], {}, { model: await scripted([answer(8)]), budget: createBudget(0.001) })
  expect(judgement.votes).toMatchObject([{ kind: 'error', message: expect.stringContaining('budget') }])
  expect(judgement.cost_usd).toBe(0)
})

test('every setting of the judge reaches the model', async () => {
  const seen: ModelRequest[] = []
  const inner = await scripted([answer(8)])
  const model: Model = {
    ...inner,
    structured: (request) => {
      seen.push(request)
      return inner.structured(request)
    },
  }
  const signal = new AbortController().signal
  await ask(
    [],
    { max_tokens: 1_234, temperature: 0.7, reasoning_effort: 'high', api_timeout_ms: 5_000 },
    { model, signal },
  )
  expect(seen).toMatchObject([
    { maxOutputTokens: 1_234, temperature: 0.7, effort: 'high', timeoutMs: 5_000, signal },
  ])
})

const memory = () => {
  const stored = new Map<number, PaidSample<UncheckedVote>>()
  return {
    stored,
    load: (sample: number) => structuredClone(stored.get(sample)),
    save: (sample: number, paid: PaidSample<UncheckedVote>) => void stored.set(sample, structuredClone(paid)),
  }
}

test('stored answers are not paid for again; a stored error is requested again', async () => {
  const checkpoint = memory()
  const first = await ask([answer(6), answer(6), '{error: auth}'], { num_samples: 3 }, { checkpoint })
  expect(first.votes.filter(({ kind }) => kind === 'error')).toHaveLength(1)
  const second = await ask([answer(9)], { num_samples: 3 }, { checkpoint })
  expect(second).toMatchObject({ quality_score: 7, cost_usd: 0.03 })
  const third = await ask(['{error: auth}'], { num_samples: 3 }, { checkpoint })
  expect(third).toEqual(second)
})

test('a stored answer to another transcript is not used', async () => {
  const checkpoint = memory()
  await ask([answer(3)], {}, { checkpoint })
  const other = transcriptOf([said('evt_1', 'user', 'Say goodbye')])
  expect(await ask([answer(9)], {}, { checkpoint, transcript: other })).toMatchObject({ quality_score: 9 })
})

test('an interruption is thrown, and earlier answers are kept', async () => {
  const stop = new AbortController()
  const checkpoint = memory()
  const save = checkpoint.save
  const saving = {
    ...checkpoint,
    save: (sample: number, paid: PaidSample<UncheckedVote>) => {
      save(sample, paid)
      stop.abort()
    },
  }
  const slow = answer(5).replace('{', '{"delay_ms": 20000, ')
  const asked = ask([answer(8), slow], { num_samples: 2 }, { checkpoint: saving, signal: stop.signal })
  await expect(asked).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(checkpoint.stored.size).toBe(1)
})

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

test('an error is kept and does not count in score, variance or majority', () => {
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

test('the majority decides accuracy and trigger, and a tie counts as the worse result', () => {
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

test('judges that disagree on the trigger give no high confidence, even with equal scores', () => {
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
