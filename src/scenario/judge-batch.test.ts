import { expect, test } from 'vitest'
import { type JudgeBatchMode, planJudgeBatch } from './judge-batch.ts'

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

const planned = (
  mode: JudgeBatchMode,
  judge: string | null,
  of: ReturnType<typeof trials>,
  samples: number,
  env = {},
) => planJudgeBatch(mode, judge, of, casesWith(samples), env)

test('batches are used from fifty calls of an Anthropic judge', () => {
  const claude = 'anthropic:claude-sonnet-5-5'
  expect(planned('auto', claude, trials(49), 1)).toBeNull()
  expect(planned('auto', claude, trials(50), 1)).toEqual({ minimum: 50, pollMs: null })
  expect(planned('auto', claude, trials(17), 3)).toEqual({ minimum: 50, pollMs: null })
  expect(planned('auto', claude, trials(80, 'plain'), 3)).toBeNull()
  expect(planned('auto', 'openai:gpt', trials(80), 1)).toBeNull()
})

test('always and never override the threshold', () => {
  expect(planned('never', 'anthropic:x', trials(80), 1)).toBeNull()
  expect(planned('always', 'anthropic:x', trials(1), 1)).toEqual({ minimum: 1, pollMs: null })
  expect(planned('always', null, trials(1), 1)).toBeNull()
  expect(() => planned('always', 'openai:gpt', trials(1), 1)).toThrow('openai:gpt')
})

test('the poll interval can be set, and invalid values are rejected', () => {
  const withPoll = (text: string) =>
    planned('always', 'anthropic:x', trials(1), 1, { GANTRY_BATCH_POLL: text })
  expect(withPoll('2s')?.pollMs).toBe(2_000)
  for (const text of ['2', '0s', 'often']) expect(() => withPoll(text)).toThrow('GANTRY_BATCH_POLL')
})
