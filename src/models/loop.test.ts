import { createFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createBudget } from './budget.ts'
import { type LoopStep, modelFailureOf, type Tool } from './contract.ts'
import { type ModelContext, resolveModel } from './index.ts'

const scripted = async (script: string, context: Partial<ModelContext> = {}) => {
  const fixture = await createFixture({ 'model.yaml': script })
  onTestFinished(() => fixture.rm())
  return resolveModel('scripted:model.yaml', {
    env: {},
    base: fixture.path,
    sleep: async () => {},
    ...context,
  })
}

const tool = (name: string, run: Tool['run'], input: z.ZodType = z.object({ n: z.number() })): Tool => ({
  name,
  description: `does ${name}`,
  input,
  run,
})

const echo = tool('echo', async (input) => ({ output: `echo ${JSON.stringify(input)}` }))

const failureOf = async (call: Promise<unknown>) => {
  try {
    await call
  } catch (error) {
    return modelFailureOf(error)
  }
  throw new Error('it should have failed')
}

const prices = { 'model.yaml': { input: 0, output: 1_000, cacheRead: 0, cacheWrite: 0 } }

test('tools are used until the model requests none, and events are reported in order', async () => {
  const model = await scripted(
    `answers:
  - {thinking: hm, text: let me see, calls: [{name: echo, input: {n: 1}}], usage: {output_tokens: 10, thinking_tokens: 4}}
  - {match: 'echo {"n":1}', text: done, usage: {output_tokens: 5}}`,
    { prices },
  )
  const steps: LoopStep[] = []
  const answer = await model.loop({ prompt: 'go', tools: [echo], onStep: (step) => steps.push(step) })
  expect(answer).toEqual({
    value: 'done',
    tokens: { input: 0, output: 15, cacheRead: 0, cacheWrite: 0, thinking: 4 },
    costUsd: 0.015,
    turns: 2,
    ending: 'done',
  })
  expect(steps).toEqual([
    { kind: 'thinking', text: 'hm' },
    { kind: 'text', text: 'let me see' },
    expect.objectContaining({ kind: 'usage', model: 'scripted:model.yaml', costUsd: 0.01 }),
    { kind: 'tool_call', id: 'call_1', name: 'echo', input: { n: 1 } },
    {
      kind: 'tool_result',
      id: 'call_1',
      name: 'echo',
      output: 'echo {"n":1}',
      durationMs: expect.any(Number),
    },
    { kind: 'text', text: 'done' },
    expect.objectContaining({ kind: 'usage', costUsd: 0.005 }),
  ])
})

test('calls of one answer run concurrently, and their results keep the order of the calls', async () => {
  const model = await scripted(`answers:
  - calls: [{name: slow, input: {n: 1}}, {name: quick, input: {n: 2}}]
  - done`)
  const ran: string[] = []
  const bothStarted = Promise.withResolvers<void>()
  const slow = tool('slow', async () => {
    await bothStarted.promise
    ran.push('slow')
    return { output: 'slow', exitCode: 3 }
  })
  const quick = tool('quick', async () => {
    ran.push('quick')
    setImmediate(() => bothStarted.resolve())
    return { output: 'quick' }
  })
  const results: LoopStep[] = []
  const onStep = (step: LoopStep): void => {
    if (step.kind === 'tool_result') results.push(step)
  }
  await model.loop({ prompt: 'go', tools: [slow, quick], onStep })
  expect(ran).toEqual(['quick', 'slow'])
  expect(results).toMatchObject([{ output: 'slow', exitCode: 3 }, { output: 'quick' }])
})

test('an unknown tool, an invalid input and a throwing tool are reported to the model, which continues', async () => {
  const model = await scripted(`answers:
  - calls: [{name: nope}, {name: echo, input: {n: one}}, {name: bomb, input: {n: 1}}]
  - {match: "There is no tool", text: understood}`)
  const bomb = tool('bomb', async () => {
    throw new Error('boom')
  })
  const results: LoopStep[] = []
  const answer = await model.loop({
    prompt: 'go',
    tools: [echo, bomb],
    onStep: (step) => step.kind === 'tool_result' && results.push(step),
  })
  expect(answer.value).toBe('understood')
  expect(results).toMatchObject([
    { isError: true, output: 'There is no tool "nope". There are: echo, bomb.' },
    { isError: true, output: expect.stringContaining('n') },
    { isError: true, output: 'boom' },
  ])
})

test('a tool gets its input as parsed by its schema', async () => {
  const model = await scripted('answers: [{calls: [{name: grow, input: {}}]}, done]')
  const seen: unknown[] = []
  const grow = tool(
    'grow',
    async (input) => {
      seen.push(input)
      return { output: '' }
    },
    z.object({ by: z.number().default(2) }),
  )
  await model.loop({ prompt: 'go', tools: [grow] })
  expect(seen).toEqual([{ by: 2 }])
})

test('the limit of model calls is not exceeded', async () => {
  const model = await scripted('answers: [{calls: [{name: echo, input: {n: 1}}], times: 9}]')
  const answer = await model.loop({ prompt: 'go', tools: [echo], maxTurns: 3 })
  expect(answer).toMatchObject({ turns: 3, ending: 'max_turns' })
})

test('the callback before the stop can make the model continue', async () => {
  const model = await scripted('answers: [first, {match: not yet, text: second}, third]')
  const asked: string[] = []
  const answer = await model.loop({
    prompt: 'go',
    tools: [],
    beforeStop: async (text) => {
      asked.push(text)
      return asked.length === 1 ? 'not yet' : null
    },
  })
  expect(asked).toEqual(['first', 'second'])
  expect(answer).toMatchObject({ value: 'second', turns: 2, ending: 'done' })
  const stubborn = await scripted('answers: [{text: done, times: 9}]')
  const limited = await stubborn.loop({ prompt: 'go', tools: [], maxTurns: 2, beforeStop: async () => 'no' })
  expect(limited).toMatchObject({ turns: 2, ending: 'max_turns' })
})

test('a failure in a later turn includes the cost of the earlier ones', async () => {
  const model = await scripted(
    'answers: [{calls: [{name: echo, input: {n: 1}}], usage: {output_tokens: 10}}, {error: context}]',
    { prices },
  )
  expect(await failureOf(model.loop({ prompt: 'go', tools: [echo] }))).toMatchObject({
    reason: 'context',
    costUsd: 0.01,
    tokens: { output: 10 },
  })
})

test('every turn is reserved before it is sent, and a rate limit in the middle is waited out', async () => {
  const turn = '{calls: [{name: echo, input: {n: 1}}], usage: {output_tokens: 100}, times: 9}'
  const model = await scripted(`answers: [{error: rate_limit}, ${turn}]`, {
    prices,
    budget: createBudget(0.25),
  })
  const failure = await failureOf(model.loop({ prompt: 'go', tools: [echo], maxOutputTokens: 100 }))
  expect(failure).toMatchObject({ reason: 'over_budget', costUsd: 0.2 })
})

test('an interruption aborts the tools, waits for them, and ends the loop', async () => {
  const model = await scripted('answers: [{calls: [{name: hang, input: {n: 1}}]}, never]')
  const stop = new AbortController()
  let isCleanedUp = false
  const hang = tool('hang', async (_, { signal }) => {
    setImmediate(() => stop.abort())
    await new Promise((done) => signal.addEventListener('abort', done))
    await new Promise((done) => setImmediate(done))
    isCleanedUp = true
    return { output: 'stopped' }
  })
  const loop = model.loop({ prompt: 'go', tools: [hang], signal: stop.signal })
  await expect(loop).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(isCleanedUp).toBe(true)
  await expect(model.loop({ prompt: 'go', tools: [], signal: stop.signal })).rejects.toMatchObject({
    code: 'INTERRUPTED',
  })
})
