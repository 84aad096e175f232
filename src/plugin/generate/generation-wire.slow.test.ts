import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { sampleAnalysis, sampleConfig, sampleSkill } from '../../../test/support/sample-analysis.ts'
import { createBudget } from '../../models/budget.ts'
import { resolveModel } from '../../models/index.ts'
import { generationSystem } from './component-prompt.ts'
import { generateScenarios } from './generate-scenarios.ts'

const bodySchema = z.looseObject({
  messages: z.array(z.object({ role: z.string(), content: z.string() })),
})
type Body = z.output<typeof bodySchema>

/** Answers every request about slots correctly. */
const openModel = async (hold: (waiting: readonly (() => void)[]) => void) => {
  const seen: Body[] = []
  const waiting: (() => void)[] = []
  let inFlight = 0
  let most = 0
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const body = bodySchema.parse(JSON.parse(text))
    seen.push(body)
    inFlight += 1
    most = Math.max(most, inFlight)
    waiting.push(() => {
      inFlight -= 1
      answer(response, body)
    })
    hold(waiting)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const model = await resolveModel('openai-compatible:local', {
    env: { AGENT_LLM_BASE_URL: url },
    base: '/',
    retry: { attempts: 1, firstWaitMs: 1, longestWaitMs: 1 },
  })
  return { model, seen, most: () => most }
}

const answer = (response: ServerResponse, { messages }: Body): void => {
  const prompt = messages.at(-1)?.content ?? ''
  const scenarios = [...prompt.matchAll(/^- (s\d+): (\w+), idea (b\d+)/gm)].map(([, slot, type, base]) => ({
    slot,
    base_id: base,
    scenario_type: type,
    user_prompt: `${slot}${slot} ${base}${base}`.repeat(3),
    expected_trigger: type !== 'negative',
  }))
  response.writeHead(200, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'local',
      choices: [
        {
          index: 0,
          finish_reason: 'stop',
          message: {
            role: 'assistant',
            content: `Here you are:\n\`\`\`json\n${JSON.stringify(scenarios)}\n\`\`\``,
          },
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    }),
  )
}

const releaseAll = (waiting: readonly (() => void)[]): void => {
  for (const release of [...waiting]) release()
  ;(waiting as (() => void)[]).length = 0
}

/** Requests wait until this many have arrived. */
const untilAsked = (count: number) => (waiting: readonly (() => void)[]) => {
  if (waiting.length >= count) releaseAll(waiting)
}

const skills = (count: number) =>
  sampleAnalysis({ skills: Array.from({ length: count }, (_, at) => sampleSkill(`skill-${at}`)) })

const generate = async (
  count: number,
  { model }: { readonly model: Awaited<ReturnType<typeof resolveModel>> },
  generation: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
) =>
  generateScenarios(skills(count), {
    config: sampleConfig({ generation: { semantic_variations: false, ...generation }, ...more }),
    model,
    budget: createBudget(null),
    signal: new AbortController().signal,
    handWritten: [],
    filters: [],
    checkpoint: { load: () => undefined, save: () => {} },
    onStep: () => {},
  })

test('temperature, effort and length of the answer are sent, and the system text is always the same', async () => {
  const server = await openModel(releaseAll)
  const { metadata } = await generate(2, server, {
    temperature: 0.6,
    reasoning_effort: 'high',
    max_tokens: 5_000,
  })
  expect(metadata.by_origin).toEqual({ model: 10 })
  expect(server.seen).toHaveLength(2)
  for (const body of server.seen) {
    expect(body).toMatchObject({ temperature: 0.6, reasoning_effort: 'high', max_tokens: 5_000 })
    expect(body.messages[0]).toEqual({ role: 'system', content: generationSystem })
  }
  expect(metadata.usage).toMatchObject([{ requests: 2, tokens: { input: 20, output: 10 }, cost_usd: null }])
  expect(metadata.cost_usd).toBeNull()
})

test('semantic scenarios are requested separately, with their own limit, and only when configured', async () => {
  const server = await openModel(releaseAll)
  const { metadata } = await generate(1, server, { semantic_variations: true, reasoning_effort: 'none' })
  expect(server.seen.map((body) => body.max_tokens)).toEqual([8_000, 1_000])
  expect(metadata.by_type).toMatchObject({ semantic: 1 })
})

test('components are requested in parallel, with or without a rate limit', async () => {
  const server = await openModel(untilAsked(4))
  await generate(4, server, { requests_per_second: 100 }, { max_concurrent: 4 })
  expect(server.most()).toBe(4)
})

test('never more than max_concurrent at the same time', async () => {
  const server = await openModel((waiting) => {
    setTimeout(() => releaseAll(waiting), 5)
  })
  await generate(6, server, {}, { max_concurrent: 2 })
  expect(server.most()).toBe(2)
})

test('a model that does not answer in time is abandoned, and the component still gets scenarios', async () => {
  const server = await openModel(() => {})
  const config = sampleConfig({ generation: { semantic_variations: false } })
  const { metadata } = await generateScenarios(skills(1), {
    config: { ...config, generation: { ...config.generation, api_timeout_ms: 40 } },
    model: server.model,
    budget: createBudget(null),
    signal: new AbortController().signal,
    handWritten: [],
    filters: [],
    checkpoint: { load: () => undefined, save: () => {} },
    onStep: () => {},
  })
  expect(metadata.by_origin).toEqual({ fallback: 3 })
  expect(metadata.warnings[0]).toContain('no answer within 40 ms')
})
