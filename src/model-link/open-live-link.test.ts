import { createFixture } from 'fs-fixture'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AgentOutcome } from '../agents/contract.ts'
import type { AgentEvent, Untimed } from '../core/event.ts'
import type { Boundary } from '../models/boundary/contract.ts'
import type { ModelLink } from '../models/boundary/model-link.ts'
import { openBoundary } from '../models/boundary/open-boundary.ts'
import { boundaryScriptSchema } from '../models/boundary/script/schema.ts'
import { builtInPrices } from '../models/prices.ts'
import { type LiveLink, openLiveLink } from './open-live-link.ts'

let boundary: Boundary
beforeAll(async () => {
  boundary = await openBoundary({ closeGraceMs: 50 })
})
afterAll(() => boundary.close())

const script = (text: string): ModelLink['source'] => ({
  kind: 'script',
  script: boundaryScriptSchema.parse({ turns: [{ text }] }),
})
const ran: AgentOutcome = {
  ending: 'exited',
  exitCode: 0,
  finalText: 'x',
  costUsd: null,
  tokens: null,
  failure: null,
}

function open(model: ModelLink, dir: string, meter: 'auto' | 'always' = 'auto'): Promise<LiveLink> {
  return openLiveLink({
    modelLink: { model, boundary: async () => boundary, faults: null },
    meter,
    places: { workspace: `${dir}/work`, home: `${dir}/home`, tmp: `${dir}/tmp` },
    prices: builtInPrices,
    redact: (text) => text,
  })
}

async function ask({ endpoint }: LiveLink, content: string): Promise<{ status: number; text: string }> {
  const body = JSON.stringify({
    model: 'claude-sonnet-4-5',
    max_tokens: 50,
    messages: [{ role: 'user', content }],
    tools: [{ name: 'Read', input_schema: {} }],
  })
  const response = await fetch(`${endpoint.url}/v1/messages`, { method: 'POST', body })
  return { status: response.status, text: await response.text() }
}

const events: Untimed<AgentEvent>[] = []
const emit = (event: Untimed<AgentEvent>): void => void events.push(event)

const end = (modelLink: LiveLink, outcome: Partial<AgentOutcome> = {}) =>
  modelLink.end({ ...ran, ...outcome }).then((part) => ({ ...part, events: events.splice(0) }))

test('each part is recorded separately at one address, and replayed without the model, in other directories', async () => {
  await using fixture = await createFixture({})
  const cassette = (name: string) => fixture.getPath(`cassettes/${name}`)
  const recorder = await open({ source: script('Recorded.'), replay: 'record' }, fixture.getPath('first'))
  for (const name of ['one', 'two']) {
    expect(recorder.begin({ cassette: cassette(name), facts: {}, emit })).toEqual({ kind: 'ready' })
    expect((await ask(recorder, `${name} in ${fixture.getPath('first')}/work`)).text).toContain('Recorded.')
    const { outcome, events, needsRecording } = await end(recorder)
    expect(outcome).toMatchObject({ costUsd: 0, tokens: { output: 3 } })
    expect(events).toMatchObject([
      { event: 'model_call', index: 0, kind: 'turn', status: 200, by: 'record', output_tokens: 3 },
      { event: 'usage' },
    ])
    expect(needsRecording).toBe(false)
  }
  await recorder.close()

  const player = await open({ source: script('Live.'), replay: 'strict' }, fixture.getPath('second'))
  player.begin({ cassette: cassette('two'), facts: {}, emit })
  expect((await ask(player, `two in ${fixture.getPath('second')}/work`)).text).toContain('Recorded.')
  expect((await end(player)).outcome.invalid).toBeUndefined()

  player.begin({ cassette: cassette('one'), facts: {}, emit })
  expect((await ask(player, 'something else')).status).toBe(402)
  const off = await end(player, { failure: { reason: 'auth', message: 'API Error: 402' } })
  expect(off).toMatchObject({ needsRecording: true, outcome: { failure: null } })
  expect(off.outcome.invalid).toContain('something else')

  expect(player.begin({ cassette: cassette('none'), facts: {}, emit })).toMatchObject({
    kind: 'unusable',
    problem: expect.stringContaining('there is no cassette'),
  })
  player.begin({ cassette: cassette('one'), facts: {}, emit })
  await ask(player, 'one more turn than was recorded')
  const stopped = await end(player, { ending: 'over_turns', exitCode: null })
  expect(stopped).toMatchObject({ needsRecording: false })
  expect(stopped.outcome.invalid).toBeUndefined()
  await player.close()
})

test('an abandoned part leaves no recording, and the next one starts again', async () => {
  await using fixture = await createFixture({})
  const model = { source: script('Words.'), replay: 'record' } as const
  const recorder = await open(model, fixture.path)
  const cassette = fixture.getPath('c/one')
  recorder.begin({ cassette, facts: {}, emit })
  await ask(recorder, 'hello')
  await end(recorder, { ending: 'timed_out' })
  expect(await fixture.exists('c/one/cassette.json')).toBe(false)
  recorder.begin({ cassette, facts: {}, emit })
  await ask(recorder, 'hello')
  await end(recorder)
  expect(await fixture.exists('c/one/cassette.json')).toBe(true)
  await recorder.close()
})

test('calls between parts are answered, but neither recorded nor paid', async () => {
  await using fixture = await createFixture({})
  const modelLink = await open({ source: script('Words.'), replay: 'off' }, fixture.path)
  expect((await ask(modelLink, 'early')).text).toContain('Done.')
  modelLink.begin({ cassette: '', facts: {}, emit })
  const { outcome } = await end(modelLink)
  expect(outcome.tokens).toBeNull()
  expect((await ask(modelLink, 'late')).status).toBe(200)
  await modelLink.close()
  expect((await ask(modelLink, 'after the end')).status).toBe(401)
})

test('the cost limit of one part ends only that part', async () => {
  await using fixture = await createFixture({})
  const modelLink = await open({ source: script('Words.'), replay: 'off' }, fixture.path, 'always')
  modelLink.begin({ cassette: '', facts: {}, emit, maxCostUsd: 0.000_000_1 })
  expect((await ask(modelLink, 'hello')).status).toBe(402)
  const { outcome } = await end(modelLink, { failure: { reason: 'auth', message: '402' } })
  expect(outcome).toMatchObject({ ending: 'over_budget', failure: null })
  modelLink.begin({ cassette: '', facts: {}, emit, maxCostUsd: 10 })
  expect((await ask(modelLink, 'hello')).status).toBe(200)
  // A script that is charged like a model costs what its limit counts.
  expect((await end(modelLink)).outcome).toMatchObject({
    ending: 'exited',
    costUsd: expect.closeTo(0.00005, 4),
  })
  await modelLink.close()
})

test('the wait that the provider requests is reported', async () => {
  await using fixture = await createFixture({})
  const limited = {
    kind: 'script',
    script: boundaryScriptSchema.parse({ turns: [{ error: { status: 429, retry_after_secs: 7 } }] }),
  } as const
  const modelLink = await open({ source: limited, replay: 'off' }, fixture.path)
  modelLink.begin({ cassette: '', facts: {}, emit })
  await ask(modelLink, 'hello')
  expect(await end(modelLink)).toMatchObject({ retryAfterMs: 7_000 })
  await modelLink.close()
})
