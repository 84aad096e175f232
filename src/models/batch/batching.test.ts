import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createFixture } from 'fs-fixture'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { createBudget } from '../budget.ts'
import { modelFailureOf } from '../contract.ts'
import { type BatchingContext, resolveBatchingModel } from '../index.ts'
import { openBatchJournal } from './journal.ts'

const requestSchema = z.object({
  custom_id: z.string(),
  params: z.object({
    model: z.string(),
    max_tokens: z.number(),
    output_config: z.unknown().optional(),
    messages: z.array(z.object({ role: z.string(), content: z.array(z.object({ text: z.string() })) })),
  }),
})
type BatchedRequest = z.output<typeof requestSchema>

const message = (text: string, more: object = {}): object => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-5-5',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1_000, output_tokens: 100 },
  ...more,
})

const promptOf = ({ params }: BatchedRequest): string => params.messages[0]?.content[0]?.text ?? ''

interface Behaviour {
  /** How often a batch is reported as `pending` before it ends. */
  polls?: number
  /** The outcome of a request; default: answered with `batched PROMPT`. */
  result?: (prompt: string) => object
  /** Whether and how this call fails. Counted from 1 per kind of call. */
  breaks?: (call: 'submit' | 'poll' | 'results' | 'list', count: number) => number | 'cut' | 'after' | null
  ordinary?: (prompt: string) => string
  /** Cancelling a batch has no effect. */
  ignoresCancel?: boolean
}

/** Anthropic's Message Batches and Messages, on loopback. */
const anthropic = async (behaviour: Behaviour = {}) => {
  const batches = new Map<
    string,
    { requests: BatchedRequest[]; polls: number; isCanceled: boolean; createdAt: string }
  >()
  const counts = { submit: 0, poll: 0, results: 0, list: 0 }
  const ordinary: string[] = []
  let url = ''
  const view = (id: string): object => {
    const batch = batches.get(id)
    const total = batch?.requests.length ?? 0
    const ended = batch !== undefined && (batch.isCanceled || batch.polls > (behaviour.polls ?? 0))
    return {
      id,
      type: 'message_batch',
      processing_status: ended ? 'ended' : 'in_progress',
      request_counts: {
        processing: ended ? 0 : total,
        succeeded: ended ? total : 0,
        errored: 0,
        canceled: 0,
        expired: 0,
      },
      created_at: batch?.createdAt ?? '',
      expires_at: '2026-12-01T00:00:00Z',
      ended_at: null,
      archived_at: null,
      cancel_initiated_at: null,
      results_url: ended ? `${url}/v1/messages/batches/${id}/results` : null,
    }
  }
  const json = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const oops = (response: ServerResponse, status: number): void =>
    json(response, status, { type: 'error', error: { type: 'api_error', message: 'oops' } })
  /** true when the call fails before it has any effect. */
  const isBroken = (response: ServerResponse, call: keyof typeof counts): boolean | 'after' => {
    counts[call] += 1
    const how = behaviour.breaks?.(call, counts[call]) ?? null
    if (how === null || how === 'after') return how ?? false
    if (how === 'cut') response.destroy()
    else oops(response, how)
    return true
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const [, id, action] = /^\/v1\/messages\/batches\/([^/?]+)(?:\/(\w+))?/.exec(request.url ?? '') ?? []
    if (request.url === '/v1/messages') {
      const prompt = z
        .object({ messages: z.array(z.object({ content: z.array(z.object({ text: z.string() })) })) })
        .parse(JSON.parse(text)).messages[0]?.content[0]?.text
      ordinary.push(prompt ?? '')
      return json(response, 200, message(behaviour.ordinary?.(prompt ?? '') ?? `ordinary ${prompt}`))
    }
    if (id === undefined && request.method === 'POST') {
      const broken = isBroken(response, 'submit')
      if (broken === true) return
      const { requests } = z.object({ requests: z.array(requestSchema) }).parse(JSON.parse(text))
      const made = `msgbatch_${batches.size + 1}`
      batches.set(made, { requests, polls: 0, isCanceled: false, createdAt: new Date().toISOString() })
      if (broken === 'after') return void response.destroy()
      return json(response, 200, view(made))
    }
    if (id === undefined) {
      if (isBroken(response, 'list')) return
      return json(response, 200, { data: [...batches.keys()].map(view), has_more: false, last_id: null })
    }
    const batch = batches.get(id)
    if (batch === undefined) return oops(response, 404)
    if (action === 'cancel') {
      batch.isCanceled = behaviour.ignoresCancel !== true
      return json(response, 200, view(id))
    }
    if (action === 'results') {
      if (isBroken(response, 'results')) return
      const lines = batch.requests.toReversed().map((one) => {
        const result = behaviour.result?.(promptOf(one)) ?? {
          type: 'succeeded',
          message: message(`batched ${promptOf(one)}`),
        }
        return JSON.stringify({ custom_id: one.custom_id, result })
      })
      return void response.writeHead(200, { 'content-type': 'application/x-jsonl' }).end(lines.join('\n'))
    }
    if (isBroken(response, 'poll')) return
    batch.polls += 1
    json(response, 200, view(id))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, batches, counts, ordinary, behaviour }
}

type Server = Awaited<ReturnType<typeof anthropic>>

const workPlace = async () => {
  const fixture = await createFixture({})
  onTestFinished(() => fixture.rm())
  return fixture.getPath('batches.jsonl')
}

/** One process: its own memory, and the journal of the directory. */
const start = async (server: Server, path: string, context: Partial<BatchingContext> = {}) => {
  const journal = openBatchJournal(path)
  onTestFinished(() => journal.close())
  const waits: number[] = []
  const batching = await resolveBatchingModel('anthropic:claude-sonnet-5-5', {
    env: { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'k' },
    base: '/',
    journal,
    minimum: 3,
    random: () => 0,
    sleep: async (ms, signal) => {
      signal.throwIfAborted()
      waits.push(ms)
    },
    ...context,
  })
  if (batching === null) throw new Error('no batches')
  const ask = (prompts: readonly string[]) =>
    Promise.allSettled(prompts.map((prompt) => batching.model.text({ prompt, maxOutputTokens: 100 })))
  return { ...batching, ask, waits, journal }
}

const values = (answers: readonly PromiseSettledResult<{ value: string }>[]) =>
  answers.map((answer) =>
    answer.status === 'fulfilled' ? answer.value.value : modelFailureOf(answer.reason)?.reason,
  )

test('calls wait for the flush, are sent as one batch, and cost half', async () => {
  const server = await anthropic({ polls: 2 })
  const budget = createBudget(1)
  const run = await start(server, await workPlace(), { budget })
  const answers = run.ask(['a', 'b', 'c'])
  expect(server.counts.submit).toBe(0)
  await run.flush()
  expect(values(await answers)).toEqual(['batched a', 'batched b', 'batched c'])
  expect(server.counts).toMatchObject({ submit: 1, results: 1 })
  expect(run.waits).toEqual([2_500, 5_000])
  expect(server.ordinary).toEqual([])
  expect((await answers)[0]).toMatchObject({ value: { costUsd: (1_000 * 2 + 100 * 10) / 1e6 / 2 } })
  expect(budget.state()).toEqual({ spentUsd: 0.0045, reservedUsd: 0, unmeteredCalls: 0 })
})

test('too few calls are sent as ordinary calls, and so are calls after the flush', async () => {
  const server = await anthropic()
  const run = await start(server, await workPlace())
  const answers = run.ask(['a', 'b'])
  await run.flush()
  expect(values(await answers)).toEqual(['ordinary a', 'ordinary b'])
  expect((await run.model.text({ prompt: 'late' })).value).toBe('ordinary late')
  expect(server.counts.submit).toBe(0)
})

test('the repair round of an invalid answer needs no second flush', async () => {
  const server = await anthropic({ ordinary: () => '{"n": 1}' })
  const run = await start(server, await workPlace())
  const schema = z.object({ n: z.number() })
  const answers = Promise.all(['a', 'b', 'c'].map((prompt) => run.model.structured({ prompt, schema })))
  await run.flush()
  expect((await answers).map(({ value }) => value)).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }])
  expect(server.ordinary).toHaveLength(3)
})

test('the same prompt several times is several requests', async () => {
  const server = await anthropic()
  const run = await start(server, await workPlace())
  const answers = run.ask(['a', 'a', 'a'])
  await run.flush()
  expect(values(await answers)).toEqual(['batched a', 'batched a', 'batched a'])
  const ids = server.batches.get('msgbatch_1')?.requests.map(({ custom_id }) => custom_id)
  expect(new Set(ids).size).toBe(3)
})

test('the effort is part of the request and of its identity', async () => {
  const server = await anthropic()
  const path = await workPlace()
  const first = await start(server, path)
  const asked = (['low', 'high', undefined] as const).map((effort) =>
    first.model.text({ prompt: 'a', ...(effort !== undefined && { effort }) }),
  )
  await first.flush()
  await Promise.all(asked)
  const requests = server.batches.get('msgbatch_1')?.requests ?? []
  expect(requests.map(({ params }) => params.output_config)).toEqual([
    { effort: 'low' },
    { effort: 'high' },
    undefined,
  ])
  expect(new Set(requests.map(({ custom_id }) => custom_id.replace(/-\d+$/, ''))).size).toBe(3)
})

test('errored, expired and canceled requests are repeated; invalid requests fail', async () => {
  const results: Readonly<Record<string, object>> = {
    expired: { type: 'expired' },
    canceled: { type: 'canceled' },
    broken: { type: 'errored', error: { type: 'error', error: { type: 'api_error', message: 'oops' } } },
    invalid: {
      type: 'errored',
      error: { type: 'error', error: { type: 'invalid_request_error', message: 'max_tokens: too large' } },
    },
    long: {
      type: 'errored',
      error: {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'prompt is too long: 5 > 4' },
      },
    },
    refused: { type: 'succeeded', message: message('', { content: [], stop_reason: 'refusal' }) },
    garbage: { type: 'succeeded', message: { hello: 'world' } },
    fine: { type: 'succeeded', message: message('fine') },
  }
  const server = await anthropic({ result: (prompt) => results[prompt] ?? {} })
  const budget = createBudget(1)
  const run = await start(server, await workPlace(), { budget })
  const answers = run.ask(Object.keys(results))
  await run.flush()
  expect(values(await answers)).toEqual([
    'ordinary expired',
    'ordinary canceled',
    'ordinary broken',
    'unavailable',
    'context',
    'refused',
    'ordinary garbage',
    'fine',
  ])
  expect(budget.state()).toMatchObject({ reservedUsd: 0 })
})

test('waits for a server that is unavailable while the batch is processed', async () => {
  const server = await anthropic({
    breaks: (call, count) => (call !== 'submit' && count <= 2 ? (count === 1 ? 500 : 'cut') : null),
  })
  const run = await start(server, await workPlace())
  const answers = run.ask(['a', 'b', 'c'])
  await run.flush()
  expect(values(await answers)).toEqual(['batched a', 'batched b', 'batched c'])
  expect(server.counts.submit).toBe(1)
})

test('a refused key fails every call, and nothing stays reserved', async () => {
  const server = await anthropic({ breaks: (call) => (call === 'submit' ? 401 : null) })
  const budget = createBudget(1)
  const run = await start(server, await workPlace(), { budget })
  const answers = run.ask(['a', 'b', 'c'])
  await run.flush()
  expect(values(await answers)).toEqual(['auth', 'auth', 'auth'])
  expect(budget.state()).toEqual({ spentUsd: 0, reservedUsd: 0, unmeteredCalls: 0 })
})

test('the process after a crash finds the batch and pays nothing twice', async () => {
  const server = await anthropic({ polls: 1e9 })
  const path = await workPlace()
  const killed = await start(server, path, { sleep: () => new Promise(() => {}) })
  void killed.ask(['a', 'b', 'c'])
  void killed.flush()
  await expect.poll(() => server.counts.poll).toBeGreaterThan(0)
  server.behaviour.polls = 0
  const resumed = await start(server, path)
  const answers = resumed.ask(['c', 'a', 'b'])
  await resumed.flush()
  expect(values(await answers)).toEqual(['batched c', 'batched a', 'batched b'])
  expect(server.counts).toMatchObject({ submit: 1, list: 0 })
  expect(server.ordinary).toEqual([])
})

test('results can be read again, and only new requests are submitted', async () => {
  const server = await anthropic()
  const path = await workPlace()
  const first = await start(server, path)
  void first.ask(['a', 'b', 'c'])
  await first.flush()
  const second = await start(server, path)
  const answers = second.ask(['b', 'd', 'e', 'f'])
  await second.flush()
  expect(values(await answers)).toEqual(['batched b', 'batched d', 'batched e', 'batched f'])
  expect([...server.batches.values()].map(({ requests }) => requests.map(promptOf))).toEqual([
    ['a', 'b', 'c'],
    ['d', 'e', 'f'],
  ])
})

test('a batch whose creation response was lost is found and not created again', async () => {
  const server = await anthropic({ breaks: (call) => (call === 'submit' ? 'after' : null) })
  const run = await start(server, await workPlace())
  const answers = run.ask(['a', 'b', 'c'])
  await run.flush()
  expect(values(await answers)).toEqual(['batched a', 'batched b', 'batched c'])
  expect(server.batches.size).toBe(1)
})

test('a crash before the batch id was written leaves enough to find the batch', async () => {
  const server = await anthropic()
  const path = await workPlace()
  const first = await start(server, path)
  const killed = await start(server, path, {
    journal: { ...first.journal, append: onlyIntent(first.journal) },
  })
  void killed.ask(['a', 'b', 'c'])
  await killed.flush()
  const resumed = await start(server, path)
  const answers = resumed.ask(['a', 'b', 'c'])
  await resumed.flush()
  expect(values(await answers)).toEqual(['batched a', 'batched b', 'batched c'])
  expect(server.counts.submit).toBe(1)
})

const onlyIntent =
  (journal: BatchingContext['journal']): BatchingContext['journal']['append'] =>
  (entry) => {
    if (entry.kind === 'submitting') journal.append(entry)
  }

test('a batch that the provider no longer knows is created again', async () => {
  const path = await workPlace()
  const first = await start(await anthropic(), path)
  void first.ask(['a', 'b', 'c'])
  await first.flush()
  const other = await anthropic()
  const second = await start(other, path)
  const answers = second.ask(['a', 'b', 'c'])
  await second.flush()
  expect(values(await answers)).toEqual(['batched a', 'batched b', 'batched c'])
  expect(other.counts.submit).toBe(1)
})

test('an interruption cancels the batch and rejects every call', async () => {
  const server = await anthropic({ polls: 1e9 })
  const stop = new AbortController()
  const run = await start(server, await workPlace(), {
    signal: stop.signal,
    sleep: async (_, signal) => {
      stop.abort()
      signal.throwIfAborted()
    },
  })
  const answers = run.ask(['a', 'b', 'c'])
  await run.flush()
  expect(await answers).toMatchObject(Array(3).fill({ status: 'rejected', reason: { code: 'INTERRUPTED' } }))
  expect(server.batches.get('msgbatch_1')?.isCanceled).toBe(true)
})

test('an interruption before the flush rejects every call', async () => {
  const stop = new AbortController()
  const run = await start(await anthropic(), await workPlace(), { signal: stop.signal })
  const answers = run.ask(['a', 'b', 'c'])
  stop.abort()
  expect(await answers).toMatchObject(Array(3).fill({ status: 'rejected', reason: { code: 'INTERRUPTED' } }))
  await run.flush()
})

test('one aborted call is rejected, and the others get their answers', async () => {
  const server = await anthropic()
  const run = await start(server, await workPlace())
  const stop = new AbortController()
  const given = run.model.text({ prompt: 'x', signal: stop.signal })
  const answers = run.ask(['a', 'b', 'c'])
  stop.abort()
  await expect(given).rejects.toMatchObject({ code: 'INTERRUPTED' })
  await expect(run.model.text({ prompt: 'y', signal: stop.signal })).rejects.toMatchObject({
    code: 'INTERRUPTED',
  })
  await run.flush()
  expect(values(await answers)).toEqual(['batched a', 'batched b', 'batched c'])
  expect(server.batches.get('msgbatch_1')?.requests).toHaveLength(3)
})

test('calls that the budget does not allow at half price are not submitted', async () => {
  const server = await anthropic()
  // 100 output tokens cost $0.001, and half of that in a batch.
  const budget = createBudget(0.0022)
  const run = await start(server, await workPlace(), { budget })
  const answers = run.ask(['a', 'b', 'c', 'd', 'e'])
  await run.flush()
  expect(values(await answers)).toEqual(['batched a', 'batched b', 'batched c', 'over_budget', 'over_budget'])
})

test('a damaged journal loses only the damaged entries', async () => {
  const server = await anthropic()
  const fixture = await createFixture({ 'batches.jsonl': '{"kind": "submitted"}\nnonsense\n{"kind": "sub' })
  onTestFinished(() => fixture.rm())
  const run = await start(server, fixture.getPath('batches.jsonl'))
  const answers = run.ask(['a', 'b', 'c'])
  await run.flush()
  expect(values(await answers)).toEqual(['batched a', 'batched b', 'batched c'])
})

test('a model of another provider has no batches', async () => {
  const journal = openBatchJournal(await workPlace())
  onTestFinished(() => journal.close())
  expect(await resolveBatchingModel('openai:gpt-6.1-terra', { env: {}, base: '/', journal })).toBeNull()
})

test('a batch is polled at the configured interval', async () => {
  const server = await anthropic({ polls: 3 })
  const run = await start(server, await workPlace(), { pollMs: 1_234 })
  const answers = run.ask(['a', 'b', 'c'])
  await run.flush()
  await answers
  expect(run.waits).toEqual([1_234, 1_234, 1_234])
})

test('a batch that takes too long is cancelled; its answers count, and the other calls are made as ordinary calls', async () => {
  const server = await anthropic({
    polls: Infinity,
    result: (prompt) =>
      prompt === 'a' ? { type: 'succeeded', message: message('batched a') } : { type: 'canceled' },
  })
  const budget = createBudget(1)
  const path = await workPlace()
  const run = await start(server, path, { pollMs: 1_000, batchTimeoutMs: 2_500, budget })
  const answers = run.ask(['a', 'b', 'c'])
  await run.flush()
  expect(values(await answers)).toEqual(['batched a', 'ordinary b', 'ordinary c'])
  expect(run.waits).toEqual([1_000, 1_000, 500])
  expect(budget.state()).toEqual({ spentUsd: 0.0015 + 2 * 0.003, reservedUsd: 0, unmeteredCalls: 0 })
  expect((await run.journal.read()).at(-1)).toEqual({ kind: 'late', batch: 'msgbatch_1' })
  const later = await start(server, path)
  const again = later.ask(['a', 'b', 'c'])
  await later.flush()
  expect(values(await again)).toEqual(['batched a', 'ordinary b', 'ordinary c'])
  expect(server.counts.submit).toBe(1)
})

test('a cancelled batch that does not end is not waited for', async () => {
  const server = await anthropic({ polls: Infinity, ignoresCancel: true })
  const run = await start(server, await workPlace(), { pollMs: 20_000, batchTimeoutMs: 60_000 })
  const answers = run.ask(['a', 'b', 'c'])
  await run.flush()
  expect(values(await answers)).toEqual(['ordinary a', 'ordinary b', 'ordinary c'])
  expect(run.waits).toEqual([20_000, 20_000, 20_000, 20_000, 20_000, 20_000])
})

test('a full batch is submitted, and the next one started', async () => {
  const server = await anthropic()
  const byCount = await start(server, await workPlace(), { most: { requests: 4, bytes: 1e6 } })
  const answers = byCount.ask(['a', 'b', 'c', 'd', 'e', 'f', 'g'])
  await byCount.flush()
  expect(values(await answers)).toContain('batched g')
  const sizes = () => [...server.batches.values()].map(({ requests }) => requests.length)
  expect(sizes().toSorted()).toEqual([3, 4])
  const bySize = await start(server, await workPlace(), { most: { requests: 100, bytes: 30 } })
  const long = bySize.ask(['1234567890', '2234567890', '3234567890', '4234567890', '5', '6'])
  await bySize.flush()
  await long
  expect(sizes().toSorted()).toEqual([3, 3, 3, 4])
})
