import { expect, test } from 'vitest'
import {
  sampleAgent,
  sampleAnalysis,
  sampleCommand,
  sampleConfig,
  sampleHook,
  sampleServer,
  sampleSkill,
} from '../../../test/support/sample-analysis.ts'
import { type EstimateOptions, estimateCosts } from './estimate-costs.ts'

const analysis = sampleAnalysis({
  skills: [sampleSkill('greet'), sampleSkill('part')],
  agents: [sampleAgent('reviewer')],
  commands: [sampleCommand('deploy')],
  hooks: [sampleHook('Stop', null)],
  mcp_servers: [sampleServer('weather')],
})

const models = { model: 'anthropic:writer' }
const priced = { generation: models, execution: models, evaluation: models }
const prices = { writer: { input: 1, output: 10, cacheRead: 0, cacheWrite: 0 } }

const estimate = (said: Record<string, unknown> = {}, more: Partial<EstimateOptions> = {}, of = analysis) =>
  estimateCosts(of, sampleConfig({ ...priced, ...said }), {
    prices,
    batchedJudge: false,
    armCount: 1,
    ...more,
  })

const stage = (name: string, ...request: Parameters<typeof estimate>) =>
  estimate(...request).stages.find((one) => one.stage === name)

test('scenarios of every type are counted, servers too; repetitions and arms multiply', () => {
  expect(estimate()).toMatchObject({ scenarios: 15 + 5 + 2 + 3, trials: 25 })
  const more = estimate({ execution: { ...models, num_reps: 3 } }, { armCount: 2 })
  expect(more).toMatchObject({ scenarios: 25, trials: 150 })
  const [once, often] = [estimate().stages[1], more.stages[1]]
  expect(often?.input_tokens).toBe((once?.input_tokens ?? 0) * 6)
  expect(often?.estimated_output_tokens).toBe((once?.estimated_output_tokens ?? 0) * 6)
  expect(estimate({ scope: {} }).scenarios).toBe(20)
  expect(estimate({}, { scenarioCount: 7, armCount: 3 })).toMatchObject({ scenarios: 7, trials: 21 })
})

test('execution and evaluation are the formulas of the contract', () => {
  const one = sampleAnalysis({ commands: [sampleCommand('deploy')] })
  const said = {
    execution: { ...models, max_turns: 4 },
    evaluation: { ...models, num_samples: 3 },
    tuning: {
      token_estimates: {
        input_per_turn: 100,
        output_per_turn: 600,
        per_command: 50,
        transcript_prompt: 1_000,
        judge_output: 200,
      },
    },
  }
  expect(estimate(said, {}, one).stages).toMatchObject([
    { stage: 'generation', input_tokens: 0, estimated_output_tokens: 0, estimated_cost_usd: 0 },
    { stage: 'execution', input_tokens: 5 * 4 * 100 + 5 * 50, estimated_output_tokens: 5 * 4 * 600 },
    { stage: 'evaluation', input_tokens: 15 * 1_000, estimated_output_tokens: 15 * 200 },
  ])
  expect(estimate(said, {}, one).stages[1]?.estimated_cost_usd).toBeCloseTo((2_250 + 12_000 * 10) / 1e6, 12)
})

test.each([
  ['output_per_scenario', 'generation', 'estimated_output_tokens', { output_per_scenario: 900 }],
  ['semantic_gen_max_tokens', 'generation', 'estimated_output_tokens', { semantic_gen_max_tokens: 500 }],
  ['transcript_prompt', 'evaluation', 'input_tokens', { transcript_prompt: 3_001 }],
  ['judge_output', 'evaluation', 'estimated_output_tokens', { judge_output: 501 }],
  ['input_per_turn', 'execution', 'input_tokens', { input_per_turn: 501 }],
  ['output_per_turn', 'execution', 'estimated_output_tokens', { output_per_turn: 2_001 }],
  ['per_skill', 'execution', 'input_tokens', { per_skill: 601 }],
  ['per_agent', 'execution', 'input_tokens', { per_agent: 801 }],
  ['per_command', 'execution', 'input_tokens', { per_command: 301 }],
  ['per_hook', 'execution', 'input_tokens', { per_hook: 401 }],
  ['per_mcp_server', 'execution', 'input_tokens', { per_mcp_server: 401 }],
] as const)('tuning.token_estimates.%s acts on %s.%s', (_, name, field, token_estimates) => {
  expect(stage(name, { tuning: { token_estimates } })?.[field]).not.toBe(stage(name)?.[field])
})

test('the prompts of the generation are counted, not guessed', () => {
  const short = sampleAnalysis({ skills: [sampleSkill('greet', { description: 'x' })] })
  const long = sampleAnalysis({ skills: [sampleSkill('greet', { description: 'x'.repeat(4_001) })] })
  const [few, many] = [stage('generation', {}, {}, short), stage('generation', {}, {}, long)]
  // Two questions: the semantic scenarios have one of their own.
  expect((many?.input_tokens ?? 0) - (few?.input_tokens ?? 0)).toBe(2_000)
  expect(few?.input_tokens).toBeGreaterThan(1_000)
  expect(few?.estimated_output_tokens).toBe(4 * 800 + 800)
})

test('without a model there are no requests, only scenarios that need none', () => {
  const without = estimate({}, { models: { generation: null, evaluation: null } })
  expect(without.scenarios).toBe(3 + 3 + 3 + 5 + 2 + 3)
  expect(without.stages).toMatchObject([
    { model: null, input_tokens: 0, estimated_cost_usd: 0 },
    { model: 'anthropic:writer' },
    { model: null, input_tokens: 0, estimated_cost_usd: 0 },
  ])
})

test('the judge costs half in batches, once there are enough calls', () => {
  const [whole, half] = [
    stage('evaluation', { batch_threshold: 25 }),
    stage('evaluation', { batch_threshold: 25 }, { batchedJudge: true }),
  ]
  expect(half).toMatchObject({ is_batched: true, input_tokens: whole?.input_tokens })
  expect(half?.estimated_cost_usd).toBe((whole?.estimated_cost_usd ?? 0) / 2)
  expect(stage('evaluation', { batch_threshold: 26 }, { batchedJudge: true })).not.toHaveProperty(
    'is_batched',
  )
})

test('the budget is compared with the whole, and what is left may be less than nothing', () => {
  const dear = estimate({ execution: { ...models, max_budget_usd: 0.5 } })
  expect(dear.total_estimated_cost_usd).toBeGreaterThan(0.5)
  expect(dear.within_budget).toBe(false)
  expect(dear.budget_remaining_usd).toBeCloseTo(0.5 - dear.known_cost_usd, 12)
  expect(estimate()).toMatchObject({ within_budget: true, unmetered_models: [] })
})

test('a model without a price is unmetered, which is not free', () => {
  const unknown = estimate({ evaluation: { model: 'openai-compatible:mine' } })
  expect(unknown.stages[2]).toMatchObject({ estimated_cost_usd: null })
  expect(unknown).toMatchObject({
    total_estimated_cost_usd: null,
    unmetered_models: ['openai-compatible:mine'],
    within_budget: true,
  })
  expect(unknown.known_cost_usd).toBeGreaterThan(0)
  expect(
    stage('execution', { execution: { model: 'anthropic:claude-sonnet-5-5' } })?.estimated_cost_usd,
  ).toBeGreaterThan(0)
})
