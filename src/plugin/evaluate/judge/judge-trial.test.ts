import { createFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
import { said, scenarioOf, transcriptOf } from '../../../../test/support/plugin-trial.ts'
import type { PaidSample } from '../../../judge/take-samples.ts'
import { createBudget } from '../../../models/budget.ts'
import type { Model, ModelRequest } from '../../../models/contract.ts'
import { type ModelContext, resolveModel } from '../../../models/index.ts'
import { type PluginConfig, pluginConfigSchema } from '../../config/keys/schema.ts'
import { type GivenVote, type JudgeTrialRequest, judgeTrial } from './judge-trial.ts'

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

test('one judge: its scores, its word on the trigger, its cost', async () => {
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

test('several judges are all asked, and joined as the configuration says', async () => {
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

test('a judge that fails is asked once more, then recorded as an error, and the others decide', async () => {
  expect(await ask(['{error: unavailable}', answer(7)])).toMatchObject({ votes: [{ kind: 'scored' }] })
  const broken = '{error: refused, message: will not}'
  const judgement = await ask([answer(7), broken, broken], { num_samples: 2 })
  expect(judgement).toMatchObject({ quality_score: 7, confidence_level: 'high' })
  expect(judgement.votes.map(({ kind }) => kind).toSorted()).toEqual(['error', 'scored'])
})

test('prose instead of JSON, again and again, is an error and no score', async () => {
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

test('money that is not there buys no vote', async () => {
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
  const stored = new Map<number, PaidSample<GivenVote>>()
  return {
    stored,
    load: (sample: number) => structuredClone(stored.get(sample)),
    save: (sample: number, paid: PaidSample<GivenVote>) => void stored.set(sample, structuredClone(paid)),
  }
}

test('answers that were kept are not paid again; an error that was kept is asked again', async () => {
  const checkpoint = memory()
  const first = await ask([answer(6), answer(6), '{error: auth}'], { num_samples: 3 }, { checkpoint })
  expect(first.votes.filter(({ kind }) => kind === 'error')).toHaveLength(1)
  const second = await ask([answer(9)], { num_samples: 3 }, { checkpoint })
  expect(second).toMatchObject({ quality_score: 7, cost_usd: 0.03 })
  const third = await ask(['{error: auth}'], { num_samples: 3 }, { checkpoint })
  expect(third).toEqual(second)
})

test('a kept answer to another transcript is not taken', async () => {
  const checkpoint = memory()
  await ask([answer(3)], {}, { checkpoint })
  const other = transcriptOf([said('evt_1', 'user', 'Say goodbye')])
  expect(await ask([answer(9)], {}, { checkpoint, transcript: other })).toMatchObject({ quality_score: 9 })
})

test('an interruption is thrown, and what was answered until then is kept', async () => {
  const stop = new AbortController()
  const checkpoint = memory()
  const save = checkpoint.save
  const saving = {
    ...checkpoint,
    save: (sample: number, paid: PaidSample<GivenVote>) => {
      save(sample, paid)
      stop.abort()
    },
  }
  const slow = answer(5).replace('{', '{"delay_ms": 20000, ')
  const asked = ask([answer(8), slow], { num_samples: 2 }, { checkpoint: saving, signal: stop.signal })
  await expect(asked).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(checkpoint.stored.size).toBe(1)
})
