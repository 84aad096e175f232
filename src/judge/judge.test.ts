import fc from 'fast-check'
import { createFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
import type { JudgeSample } from '../core/trial.ts'
import { createBudget } from '../models/budget.ts'
import type { Model } from '../models/contract.ts'
import { type ModelContext, resolveModel } from '../models/index.ts'
import type { ScoredSample } from './answer.ts'
import { type JudgeRequest, judge, pairwiseAgreement } from './judge.ts'
import type { Rubric } from './rubric.ts'
import type { PaidSample as Paid } from './take-samples.ts'

type PaidSample = Paid<ScoredSample>

const rubric: Rubric = {
  criteria: [
    { id: 'structure', weight: 0.6, description: 'Notes are short and linked.' },
    { id: 'coverage', weight: 0.4, description: 'Everything is there.' },
  ],
}
const context = { taskPrompt: 'Write a note.', gates: [], finalMessage: 'done', transcript: '', files: [] }

const answer = (structure: number, coverage: number, more = '') =>
  `{json: {scores: {structure: ${structure}, coverage: ${coverage}}, confidence: 0.8${more}}, usage: {output_tokens: 10}}`

const prices = { 'judge.yaml': { input: 0, output: 1_000, cacheRead: 0, cacheWrite: 0 } }

const ask = async (
  answers: string[],
  change: Partial<JudgeRequest> = {},
  model: Partial<ModelContext> = {},
) => {
  const fixture = await createFixture({
    'judge.yaml': `answers:\n${answers.map((one) => `  - ${one}\n`).join('')}`,
  })
  onTestFinished(() => fixture.rm())
  const opened = await resolveModel('scripted:judge.yaml', {
    env: {},
    base: fixture.path,
    sleep: async () => {},
    prices,
    ...model,
  })
  return judge({ model: opened, rubric, threshold: 0.7, context, ...change })
}

const resultOf = async (...request: Parameters<typeof ask>) => {
  const judgement = await ask(...request)
  if (judgement.kind === 'unavailable') throw new Error(judgement.message)
  return judgement.result
}

test('quotes of several samples are joined', async () => {
  const quoting = answer(1, 1, ', quotes: {structure: [Write a note.]}')
  const { quotes } = await resultOf([quoting, quoting], { samples: 2 })
  expect(quotes).toEqual([{ criterion: 'structure', text: 'Write a note.' }])
})

test('one sample: scores per criterion, recomputed sum, threshold, cost', async () => {
  const result = await resultOf([answer(1, 0.5, ', weighted_score: 0.1, issues: [slow], highlights: [tidy]')])
  expect(result).toMatchObject({
    model: 'scripted:judge.yaml',
    passed: true,
    threshold: 0.7,
    weighted_score: 0.8,
    scores: { structure: 1, coverage: 0.5 },
    confidence: 0.8,
    issues: ['slow'],
    highlights: ['tidy'],
    agreement: null,
    costUsd: 0.01,
  })
  expect(result.samples).toHaveLength(1)
})

test('exactly the threshold passes, below it does not', async () => {
  expect((await resultOf([answer(0.7, 0.7)])).passed).toBe(true)
  expect((await resultOf([answer(0.7, 0.69)])).passed).toBe(false)
})

test.each([
  ['mean', 0.6],
  ['median', 0.7],
  ['min', 0.2],
] as const)('three samples are joined by their %s', async (aggregate, expected) => {
  const answers = [answer(0.9, 0.9), answer(0.2, 0.2), answer(0.7, 0.7)]
  const result = await resultOf(answers, { samples: 3, aggregate })
  expect(result.weighted_score).toBeCloseTo(expected, 9)
  expect(result.scores.structure).toBeCloseTo(expected, 9)
  expect(result.costUsd).toBeCloseTo(0.03, 9)
})

test('agreement shows how close the samples are, and issues are listed once', async () => {
  const same = await resultOf([answer(0.5, 1, ', issues: [a]'), answer(0.5, 1, ', issues: [a, b]')], {
    samples: 2,
  })
  expect(same.agreement).toBe(1)
  expect(same.issues).toEqual(['a', 'b'])
  const apart = await resultOf([answer(0, 1), answer(1, 1)], { samples: 2 })
  expect(apart.agreement).toBe(0.5)
})

test('a sample that fails is repeated and then counts', async () => {
  const result = await resultOf(['{error: unavailable}', answer(1, 1)])
  expect(result.samples).toMatchObject([{ kind: 'scored' }])
})

test('a sample that fails twice is recorded and the others decide', async () => {
  const calls: [number, JudgeSample['kind']][] = []
  const answers = [answer(1, 1), '{error: refused, message: will not}', '{error: refused, message: will not}']
  const result = await resultOf(answers, {
    samples: 2,
    onSample: (sample, { kind }) => calls.push([sample, kind]),
  })
  expect(result).toMatchObject({ passed: true, weighted_score: 1, agreement: null })
  expect(result.samples).toMatchObject([
    { kind: 'scored' },
    { kind: 'error', message: expect.stringContaining('will not') },
  ])
  expect(calls.toSorted()).toEqual([
    [0, 'scored'],
    [1, 'error'],
  ])
})

test('a malformed answer is repeated with the problem shown to the model', async () => {
  const result = await resultOf(['{text: "I think it is fine", usage: {output_tokens: 10}}', answer(1, 1)])
  expect(result).toMatchObject({ weighted_score: 1, costUsd: 0.02 })
})

test('when every sample fails the judge is unavailable, which is not a verdict, and the cost is reported', async () => {
  const nonsense = '{text: nonsense, times: 8, usage: {output_tokens: 10}}'
  expect(await ask([nonsense], { samples: 2 })).toEqual({
    kind: 'unavailable',
    reason: 'malformed',
    message: expect.stringContaining('gave no usable answer in any of 2 samples'),
    costUsd: 0.08,
  })
})

test('a refused key is not tried again', async () => {
  const judgement = await ask(['{error: auth, message: bad key}', answer(1, 1)])
  expect(judgement).toMatchObject({
    kind: 'unavailable',
    reason: 'auth',
    message: expect.stringContaining('bad key'),
  })
})

test('the budget is checked before each call', async () => {
  const budget = createBudget(8.01)
  const judgement = await ask(Array<string>(9).fill(answer(1, 1)), { samples: 3 }, { budget })
  expect(judgement).toMatchObject({ kind: 'judged' })
  expect(budget.state().spentUsd).toBe(0.01)
  expect(await ask([answer(1, 1)], {}, { budget: createBudget(0.5) })).toMatchObject({
    kind: 'unavailable',
    reason: 'over_budget',
  })
  expect(await ask([answer(1, 1)], { budget: createBudget(9) }, { budget: createBudget(0) })).toMatchObject({
    kind: 'judged',
  })
})

test('finished samples are not paid again', async () => {
  const stored = new Map<number, PaidSample>()
  const checkpoint = {
    load: (sample: number) => stored.get(sample),
    save: (sample: number, paid: PaidSample) => void stored.set(sample, paid),
  }
  await ask([answer(1, 1), answer(0.5, 0.5), '{error: auth}'], { samples: 3, checkpoint })
  expect([...stored.values()].map(({ result }) => result.kind).toSorted()).toEqual([
    'error',
    'scored',
    'scored',
  ])
  const restored: unknown = JSON.parse(JSON.stringify([...stored]))
  stored.clear()
  for (const [sample, paid] of restored as [number, PaidSample][]) stored.set(sample, paid)
  const result = await resultOf([answer(0, 0)], { samples: 3, checkpoint })
  expect(result.weighted_score).toBeCloseTo(0.5, 9)
  expect(result.costUsd).toBeCloseTo(0.03, 9)
  const again = await resultOf(['{error: auth}'], { samples: 3, checkpoint })
  expect(again.costUsd).toBeCloseTo(0.03, 9)
})

test('a stored sample for other criteria is not used', async () => {
  const old: PaidSample = {
    result: {
      kind: 'scored',
      weighted_score: 1,
      scores: { style: 1 },
      confidence: 1,
      issues: [],
      highlights: [],
    },
    costUsd: 0,
  }
  const result = await resultOf([answer(0, 0)], { checkpoint: { load: () => old, save: () => {} } })
  expect(result.weighted_score).toBe(0)
})

test('an interruption is passed on, after every call has ended', async () => {
  const stop = new AbortController()
  const call = ask(['{text: late, times: 3, delay_ms: 60000}'], { samples: 3, signal: stop.signal })
  setTimeout(() => stop.abort(), 30)
  await expect(call).rejects.toMatchObject({ code: 'INTERRUPTED' })
})

test('a judge without a price is unmetered, not free', async () => {
  const fixture = await createFixture({ 'judge.yaml': `answers: [${answer(1, 1)}]` })
  onTestFinished(() => fixture.rm())
  const free = await resolveModel('scripted:judge.yaml', { env: {}, base: fixture.path })
  const unmetered: Model = {
    ...free,
    structured: async (request) => ({ ...(await free.structured(request)), costUsd: null }),
  }
  const judgement = await judge({ model: unmetered, rubric, threshold: 0.5, context })
  expect(judgement).toMatchObject({ kind: 'judged', result: { costUsd: null } })
})

const ratings = fc.array(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 }), {
  maxLength: 12,
})

test('agreement is the mean nearness of pairs', () => {
  expect(
    pairwiseAgreement([
      [1, 1, 1],
      [0.5, 0.5, 0.5],
    ]),
  ).toBe(1)
  expect(pairwiseAgreement([[0, 1]])).toBe(0)
  expect(
    pairwiseAgreement([
      [0.8, 0.6],
      [1, 1],
    ]),
  ).toBeCloseTo(0.9, 12)
  expect(pairwiseAgreement([[0.8], [1]])).toBeNull()
})

test('agreement stays in 0..1 for any order of the raters', () => {
  fc.assert(
    fc.property(ratings, (items) => {
      const agreement = pairwiseAgreement(items)
      if (agreement === null) return
      expect(agreement).toBeGreaterThanOrEqual(-1e-12)
      expect(agreement).toBeLessThanOrEqual(1)
      expect(pairwiseAgreement(items.map((item) => item.toReversed()))).toBeCloseTo(agreement, 12)
    }),
  )
})
