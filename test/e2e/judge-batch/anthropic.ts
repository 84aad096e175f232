import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

const paramsSchema = z.object({
  messages: z.array(z.object({ content: z.array(z.object({ text: z.string() })) })),
})
const batchSchema = z.object({
  requests: z.array(z.object({ custom_id: z.string(), params: paramsSchema })),
})

export interface Anthropic {
  readonly env: Readonly<Record<string, string>>
  /** Attempts of the trials that were asked about, batch by batch. */
  readonly batches: (readonly number[])[]
  /** Attempts that were asked about in ordinary calls. */
  readonly ordinary: number[]
  readonly cancelled: string[]
  /** How often somebody looked at a batch. */
  polls: number
  /** false: batches stay in progress. */
  isEnding: boolean
  /** false: a batch is taken and nobody is told. */
  isAnswering: boolean
}

export interface Behaviour {
  /** What became of a batched request; default: it was answered. */
  readonly result?: (attempt: number) => object | null
  /** Status that the batches' own address answers with instead of taking one. */
  readonly refuses?: number
}

/** What the judge says of an attempt, different for each of ten. */
export const scoreOf = (attempt: number): number => (attempt % 10) / 10

/** Anthropic's Messages and Message Batches on loopback; the results of a batch come in reverse. */
export async function anthropic(behaviour: Behaviour = {}): Promise<Anthropic> {
  const made: { id: string; createdAt: string; requests: { id: string; attempt: number }[] }[] = []
  const state: { -readonly [Key in keyof Anthropic]: Anthropic[Key] } = {
    env: {},
    batches: [],
    ordinary: [],
    cancelled: [],
    polls: 0,
    isEnding: true,
    isAnswering: true,
  }
  let url = ''
  const view = ({ id, createdAt, requests }: (typeof made)[number]): object => ({
    id,
    type: 'message_batch',
    processing_status: state.isEnding ? 'ended' : 'in_progress',
    request_counts: {
      processing: state.isEnding ? 0 : requests.length,
      succeeded: state.isEnding ? requests.length : 0,
      errored: 0,
      canceled: 0,
      expired: 0,
    },
    created_at: createdAt,
    expires_at: '2126-01-01T00:00:00Z',
    ended_at: state.isEnding ? createdAt : null,
    archived_at: null,
    cancel_initiated_at: null,
    results_url: state.isEnding ? `${url}/v1/messages/batches/${id}/results` : null,
  })
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const path = request.url ?? ''
    if (path === '/v1/messages') {
      const attempt = attemptOf(paramsSchema.parse(JSON.parse(text)))
      state.ordinary.push(attempt)
      return json(response, 200, answerTo(attempt))
    }
    if (behaviour.refuses !== undefined)
      return json(response, behaviour.refuses, {
        type: 'error',
        error: { type: 'api_error', message: 'no batches here' },
      })
    const [, id, action] = /^\/v1\/messages\/batches\/([^/?]+)(?:\/(\w+))?/.exec(path) ?? []
    if (id === undefined && request.method === 'POST') {
      const requests = batchSchema
        .parse(JSON.parse(text))
        .requests.map(({ custom_id, params }) => ({ id: custom_id, attempt: attemptOf(params) }))
      const batch = { id: `msgbatch_${made.length + 1}`, createdAt: new Date().toISOString(), requests }
      made.push(batch)
      state.batches.push(requests.map(({ attempt }) => attempt))
      return state.isAnswering ? json(response, 200, view(batch)) : undefined
    }
    if (id === undefined) return json(response, 200, { data: made.map(view), has_more: false, last_id: null })
    const batch = made.find((known) => known.id === id)
    if (batch === undefined)
      return json(response, 404, { type: 'error', error: { type: 'not_found_error', message: 'unknown' } })
    if (action === 'cancel') state.cancelled.push(id)
    if (action === 'results') {
      const lines = batch.requests.toReversed().map((asked) => {
        const result = behaviour.result?.(asked.attempt) ?? {
          type: 'succeeded',
          message: answerTo(asked.attempt),
        }
        return JSON.stringify({ custom_id: asked.id, result })
      })
      return void response.writeHead(200, { 'content-type': 'application/x-jsonl' }).end(lines.join('\n'))
    }
    if (action === undefined) state.polls += 1
    json(response, 200, view(batch))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  state.env = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-ant-loopback', GANTRY_BATCH_POLL: '20ms' }
  return state
}

function attemptOf({ messages }: z.output<typeof paramsSchema>): number {
  return Number(/attempt-(\d+)/.exec(messages[0]?.content[0]?.text ?? '')?.[1])
}

function answerTo(attempt: number): object {
  const answer = { scores: { complete: scoreOf(attempt) }, confidence: 0.8, issues: [], highlights: [] }
  return {
    id: `msg_${attempt}`,
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5-5',
    content: [{ type: 'text', text: JSON.stringify(answer) }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1_000, output_tokens: 100 },
  }
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
