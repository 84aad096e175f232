import { createFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createBudget } from './budget.ts'
import { modelFailureOf } from './contract.ts'
import { type ModelContext, resolveModel } from './index.ts'

const scriptedModel = async (script: string, context: Partial<ModelContext> = {}) => {
  const fixture = await createFixture({ 'model.yaml': script })
  onTestFinished(() => fixture.rm())
  return resolveModel('scripted:model.yaml', {
    env: {},
    base: fixture.path,
    sleep: async () => {},
    ...context,
  })
}

const failureOf = async (call: Promise<unknown>) => {
  try {
    await call
  } catch (error) {
    return modelFailureOf(error)
  }
  throw new Error('it should have failed')
}

const colour = z.object({ colour: z.enum(['red', 'blue']) })

test('answers are given in the order of the calls until none is left', async () => {
  const model = await scriptedModel('answers: [one, {text: two}, {json: {n: 3}}]')
  const values = [
    await model.text({ prompt: 'a' }),
    await model.text({ prompt: 'b' }),
    await model.text({ prompt: 'c' }),
  ]
  expect(values.map(({ value }) => value)).toEqual(['one', 'two', '{"n":3}'])
  const failure = await failureOf(model.text({ prompt: 'what now?' }))
  expect(failure).toMatchObject({ reason: 'unavailable' })
  expect(failure?.message).toContain('no answer left for "what now?"')
})

test('answers by match do not depend on the order of concurrent calls', async () => {
  const model = await scriptedModel(`
answers:
  - {match: alpha, text: A, delay_ms: 20}
  - {match: beta, text: B}
  - {text: other, times: 2}
`)
  const prompts = ['beta', 'alpha', 'gamma', 'alpha', 'delta', 'beta']
  const values = await Promise.all(prompts.map(async (prompt) => (await model.text({ prompt })).value))
  expect(values).toEqual(['B', 'A', 'other', 'A', 'other', 'B'])
})

test('a match looks at the system text too', async () => {
  const model = await scriptedModel('answers: [{match: judge, text: yes}]')
  expect((await model.text({ system: 'you are a judge', prompt: 'x' })).value).toBe('yes')
})

test('rate limits are waited out and the caller does not see them', async () => {
  const waits: number[] = []
  const model = await scriptedModel(
    'answers: [{error: rate_limit, retry_after_ms: 7000}, {error: overloaded, times: 2}, fine]',
    { sleep: async (ms) => void waits.push(ms), random: () => 0 },
  )
  expect((await model.text({ prompt: 'x' })).value).toBe('fine')
  expect(waits).toEqual([7_000, 1_000, 2_000])
})

test.each(['auth', 'refused', 'timeout', 'context'] as const)('%s is a typed failure', async (reason) => {
  const model = await scriptedModel(`answers: [{error: ${reason}, message: told so}]`)
  expect(await failureOf(model.text({ prompt: 'x' }))).toMatchObject({
    reason,
    message: expect.stringContaining('told so'),
    costUsd: 0,
  })
})

test('a scripted model is free unless the user prices it', async () => {
  const script = 'answers: [{text: x, times: 2, usage: {input_tokens: 1000, output_tokens: 100}}]'
  const free = await (await scriptedModel(script)).text({ prompt: 'x' })
  expect(free).toMatchObject({
    costUsd: 0,
    tokens: { input: 1_000, output: 100, cacheRead: 0, cacheWrite: 0 },
  })
  const prices = { 'scripted:model.yaml': { input: 10, output: 100, cacheRead: 1, cacheWrite: 10 } }
  const budget = createBudget(1)
  const paid = await (await scriptedModel(script, { prices, budget })).text({
    prompt: 'x',
    maxOutputTokens: 200,
  })
  expect(paid.costUsd).toBeCloseTo(0.02, 12)
  expect(budget.state()).toMatchObject({ spentUsd: 0.02, reservedUsd: 0 })
})

test('a model whose answers are recorded is free, whatever its price', async () => {
  const prices = { 'model.yaml': { input: 0, output: 1_000, cacheRead: 0, cacheWrite: 0 } }
  const model = await scriptedModel('answers: [first]', { prices, isFree: true, budget: createBudget(0) })
  expect(await model.text({ prompt: 'a' })).toMatchObject({ value: 'first', costUsd: 0 })
})

test('a call that the budget does not allow is not sent', async () => {
  const prices = { 'model.yaml': { input: 0, output: 1_000, cacheRead: 0, cacheWrite: 0 } }
  const model = await scriptedModel('answers: [first, second]', { prices, budget: createBudget(0.5) })
  expect(await failureOf(model.text({ prompt: 'x', maxOutputTokens: 1_000 }))).toMatchObject({
    reason: 'over_budget',
    costUsd: 0,
  })
  expect((await model.text({ prompt: 'x', maxOutputTokens: 100 })).value).toBe('first')
})

test('concurrent calls cannot exceed the cap together', async () => {
  const prices = { 'model.yaml': { input: 0, output: 1_000, cacheRead: 0, cacheWrite: 0 } }
  const budget = createBudget(0.5)
  const model = await scriptedModel(
    'answers: [{text: x, times: 20, delay_ms: 5, usage: {output_tokens: 100}}]',
    { prices, budget },
  )
  const calls = await Promise.allSettled(
    Array.from({ length: 12 }, () => model.text({ prompt: 'x', maxOutputTokens: 100 })),
  )
  expect(calls.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
  expect(budget.state().spentUsd).toBe(0.5)
})

test('a budget in the request is charged instead of the model’s own', async () => {
  const prices = { 'model.yaml': { input: 0, output: 1_000, cacheRead: 0, cacheWrite: 0 } }
  const [own, other] = [createBudget(0), createBudget(1)]
  const model = await scriptedModel('answers: [{text: x, usage: {output_tokens: 10}}]', {
    prices,
    budget: own,
  })
  await model.text({ prompt: 'x', maxOutputTokens: 100, budget: other })
  expect([own.state().spentUsd, other.state().spentUsd]).toEqual([0, 0.01])
})

test('a model that never answers is a timeout, and its reservation counts as spent', async () => {
  const prices = { 'model.yaml': { input: 0, output: 1_000, cacheRead: 0, cacheWrite: 0 } }
  const budget = createBudget(1)
  const model = await scriptedModel('answers: [{text: late, delay_ms: 60000}]', {
    timeoutMs: 30,
    prices,
    budget,
  })
  expect(await failureOf(model.text({ prompt: 'x', maxOutputTokens: 100 }))).toMatchObject({
    reason: 'timeout',
  })
  expect(budget.state()).toMatchObject({ spentUsd: 0.1, reservedUsd: 0 })
})

test('an interruption ends a running call, a pause, and a call that has not started', async () => {
  const interrupted = { code: 'INTERRUPTED' }
  const slow = await scriptedModel('answers: [{text: late, delay_ms: 60000}]')
  const stop = new AbortController()
  const call = slow.text({ prompt: 'x', signal: stop.signal })
  setTimeout(() => stop.abort(), 10)
  await expect(call).rejects.toMatchObject(interrupted)
  await expect(slow.text({ prompt: 'x', signal: stop.signal })).rejects.toMatchObject(interrupted)
  const { realSleep } = await import('./retry.ts')
  const limited = await scriptedModel('answers: [{error: rate_limit, retry_after_ms: 50000}]', {
    sleep: realSleep,
  })
  const stopPause = new AbortController()
  setTimeout(() => stopPause.abort(), 30)
  await expect(limited.text({ prompt: 'x', signal: stopPause.signal })).rejects.toMatchObject(interrupted)
})

test('a structured answer is found in prose and checked', async () => {
  const model = await scriptedModel(`answers: ['Sure! {"colour": "red"} Anything else?']`)
  expect((await model.structured({ prompt: 'x', schema: colour })).value).toEqual({ colour: 'red' })
})

test('an invalid answer is shown to the model once, with the problem, and both rounds are paid', async () => {
  const usage = 'usage: {output_tokens: 10}'
  const model = await scriptedModel(
    `answers:
  - {match: 'It cannot be used', json: {colour: blue}, ${usage}}
  - {match: 'JSON Schema', json: {colour: green}, ${usage}}`,
    { prices: { 'model.yaml': { input: 0, output: 1_000, cacheRead: 0, cacheWrite: 0 } } },
  )
  const answer = await model.structured({ prompt: 'x', schema: colour })
  expect(answer).toMatchObject({ value: { colour: 'blue' }, tokens: { output: 20 }, costUsd: 0.02 })
})

test('the repair round names the problem', async () => {
  const model = await scriptedModel(`
answers:
  - {text: 'no idea', times: 1, match: 'JSON Schema'}
  - {match: 'there is no JSON in it', json: {colour: red}}`)
  expect((await model.structured({ prompt: 'x', schema: colour })).value.colour).toBe('red')
})

test('two invalid answers are a malformed failure that includes the cost', async () => {
  const model = await scriptedModel(
    `answers: [{text: '{"colour": ', times: 2, usage: {output_tokens: 10}}]`,
    { prices: { 'model.yaml': { input: 0, output: 1_000, cacheRead: 0, cacheWrite: 0 } } },
  )
  const failure = await failureOf(model.structured({ prompt: 'x', schema: colour }))
  expect(failure).toMatchObject({ reason: 'malformed', costUsd: 0.02, tokens: { output: 20 } })
})

test('a failure in the repair round includes the cost of the first answer', async () => {
  const model = await scriptedModel(
    'answers: [{text: nonsense, usage: {output_tokens: 10}}, {error: auth}]',
    { prices: { 'model.yaml': { input: 0, output: 1_000, cacheRead: 0, cacheWrite: 0 } } },
  )
  expect(await failureOf(model.structured({ prompt: 'x', schema: colour }))).toMatchObject({
    reason: 'auth',
    costUsd: 0.01,
  })
})

test.each([
  ['answers: []'],
  ['answers: [{text: a, json: b}]'],
  ['answers: [{match: a}]'],
  ['answers: [{json: 1, calls: [{name: a}]}]'],
  ['answers: [{calls: []}]'],
  ['answers: [{error: tired}]'],
  ['answers: [{text: a, tmes: 3}]'],
  ['responses: [a]'],
])('%s is refused with its position', async (script) => {
  await expect(scriptedModel(script)).rejects.toMatchObject({ code: 'INVALID_FILE' })
})

test('an unknown provider is reported with the known ones', async () => {
  const context = { env: {}, base: '/' }
  await expect(resolveModel('acme:large', context)).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: expect.stringContaining("no access to models of 'acme'"),
    hint: 'Known providers: anthropic, openai, openai-compatible, google, scripted.',
  })
  for (const name of ['gpt', ':x', 'scripted:', ''])
    await expect(resolveModel(name, context)).rejects.toMatchObject({ code: 'USAGE' })
  await expect(resolveModel('toString:x', context)).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test.each([
  ['anthropic:claude-opus-5-5', 'ANTHROPIC_API_KEY'],
  ['openai:gpt-6.1-sol', 'OPENAI_API_KEY'],
  ['google:gemini-3.8-flash', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ['openai-compatible:llama', 'AGENT_LLM_BASE_URL'],
])('%s without access names %s', async (name, variable) => {
  const refused = resolveModel(name, { env: { [variable]: ' ' }, base: '/' })
  await expect(refused).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: expect.stringContaining(`${variable} is not set`),
    hint: expect.stringContaining(`Set ${variable}`),
  })
})

test('an invalid address is reported with its variable', async () => {
  const env = { AGENT_LLM_BASE_URL: 'localhost:8000' }
  await expect(resolveModel('openai-compatible:llama', { env, base: '/' })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('AGENT_LLM_BASE_URL'),
  })
})

test('default without access names the variables that would give it', async () => {
  await expect(resolveModel('default', { env: {}, base: '/' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: 'cannot proceed without model access',
    hint: expect.stringMatching(/AGENT_LLM_BASE_URL.*ANTHROPIC_API_KEY.*OPENAI_API_KEY/),
  })
})

test('a missing script is reported', async () => {
  await expect(resolveModel('scripted:nowhere.yaml', { env: {}, base: '/nowhere' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
})
