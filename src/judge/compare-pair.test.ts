import { expect, test } from 'vitest'
import { noTokens } from '../core/trial.ts'
import type { Model } from '../models/contract.ts'
import { modelError } from '../models/model-error.ts'
import { comparePair, type PairRequest, type PairSample } from './compare-pair.ts'
import type { JudgeContext } from './prompt.ts'
import type { PaidSample } from './take-samples.ts'

const rubric = { criteria: [{ id: 'clear', weight: 1, description: 'It is clear.' }] }
const answer = (finalMessage: string): JudgeContext => ({
  taskPrompt: 'Explain it.',
  gates: [],
  finalMessage,
  transcript: '',
  files: [],
})

/** `choose` sees the question and says which answer it wants, or throws. */
async function compare(choose: (prompt: string) => string, change: Partial<PairRequest> = {}) {
  const asked: string[] = []
  const model = {
    name: 'fake',
    structured: async ({ prompt }: { prompt: string }) => {
      asked.push(prompt)
      return { value: { winner: choose(prompt), reason: 'because' }, tokens: noTokens, costUsd: 0.5 }
    },
  } as unknown as Model
  const found = await comparePair({
    model,
    rubric,
    answers: [answer('plum'), answer('pear')],
    samples: 1,
    signal: new AbortController().signal,
    checkpoint: { load: () => undefined, save: () => {} },
    ...change,
  })
  return { found, asked }
}

const wants = (word: string) => (prompt: string) =>
  prompt.indexOf('plum') < prompt.indexOf('pear') === (word === 'plum') ? 'A' : 'B'

test('both orders are asked, without a word about the sides, and a name becomes a side', async () => {
  const { found, asked } = await compare(wants('pear'))
  expect(found).toMatchObject({ kind: 'compared', orders: ['after', 'after'], costUsd: 1 })
  expect(asked.length).toBe(2)
  expect(asked.map((prompt) => prompt.indexOf('plum') < prompt.indexOf('pear'))).toEqual([true, false])
  expect(asked.join()).not.toMatch(/before|after/)
})

test('a judge that always takes the first answer disagrees with itself', async () => {
  const { found } = await compare(() => 'A')
  expect(found).toMatchObject({ orders: ['before', 'after'] })
})

test('several samples of an order are a vote', async () => {
  let n = 0
  const { found, asked } = await compare(
    (prompt) => {
      n += 1
      return n <= 2 ? 'tie' : wants('plum')(prompt)
    },
    { samples: 3 },
  )
  expect(asked.length).toBe(6)
  expect(found).toMatchObject({ orders: ['before', 'before'] })
})

test('an order without an answer says nothing, and what was answered is not asked again', async () => {
  const stored = new Map<number, PaidSample<PairSample>>()
  const checkpoint: PairRequest['checkpoint'] = {
    load: (sample) => stored.get(sample),
    save: (sample, paid) => void stored.set(sample, paid),
  }
  const broken = await compare(
    (prompt) => {
      if (prompt.indexOf('plum') < prompt.indexOf('pear')) return 'A'
      throw modelError({ reason: 'overloaded', message: 'too busy', tokens: noTokens, costUsd: 0 })
    },
    { checkpoint },
  )
  expect(broken.found).toMatchObject({
    kind: 'unavailable',
    reason: 'overloaded',
    message: expect.stringContaining('too busy'),
  })
  const again = await compare(wants('plum'), { checkpoint })
  expect(again.asked.length).toBe(1)
  expect(again.found).toMatchObject({ orders: ['before', 'before'], costUsd: 1 })
  const changed = await compare(wants('plum'), {
    checkpoint,
    answers: [answer('plum'), answer('pear, ripe')],
  })
  expect(changed.asked.length).toBe(2)
})
