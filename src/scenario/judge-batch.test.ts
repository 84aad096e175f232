import { expect, test } from 'vitest'
import { planJudgeBatch } from './judge-batch.ts'

const trials = (count: number, name = 'judged') =>
  Array.from({ length: count }, (_, index) => ({
    id: `${name}-${index}`,
    case: name,
    agent: 'a',
    model: 'default',
    attempt: index + 1,
  }))

const casesWith = (samples: number) =>
  new Map([
    ['judged', { rubric: {}, scenario: { evaluation: { judge: { samples } } } }],
    ['plain', { rubric: null, scenario: { evaluation: {} } }],
  ]) as unknown as Parameters<typeof planJudgeBatch>[3]

test('a batch is worth it from fifty calls of an Anthropic judge up', () => {
  const claude = 'anthropic:claude-sonnet-5-5'
  expect(planJudgeBatch('auto', claude, trials(49), casesWith(1))).toBeNull()
  expect(planJudgeBatch('auto', claude, trials(50), casesWith(1))).toEqual({ minimum: 50 })
  expect(planJudgeBatch('auto', claude, trials(17), casesWith(3))).toEqual({ minimum: 50 })
  expect(planJudgeBatch('auto', claude, trials(80, 'plain'), casesWith(3))).toBeNull()
  expect(planJudgeBatch('auto', 'openai:gpt', trials(80), casesWith(1))).toBeNull()
})

test('always and never are taken at their word', () => {
  expect(planJudgeBatch('never', 'anthropic:x', trials(80), casesWith(1))).toBeNull()
  expect(planJudgeBatch('always', 'anthropic:x', trials(1), casesWith(1))).toEqual({ minimum: 1 })
  expect(planJudgeBatch('always', null, trials(1), casesWith(1))).toBeNull()
  expect(() => planJudgeBatch('always', 'openai:gpt', trials(1), casesWith(1))).toThrow('openai:gpt')
})
