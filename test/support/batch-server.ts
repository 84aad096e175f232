import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

const paramsSchema = z.looseObject({
  model: z.string(),
  max_tokens: z.number(),
  messages: z.array(z.object({ content: z.array(z.object({ text: z.string() })) })),
})
const batchSchema = z.object({
  requests: z.array(z.object({ custom_id: z.string(), params: paramsSchema })),
})

/** A call as it was sent. */
export type SentCall = z.output<typeof paramsSchema>

export interface BatchServer {
  readonly url: string
  /** Calls that were handed in, batch by batch. */
  readonly batches: (readonly SentCall[])[]
  /** Ids that the calls of the batches had. */
  readonly ids: (readonly string[])[]
  readonly ordinary: SentCall[]
  readonly cancelled: string[]
  /** How often a batch was polled. */
  polls: number
  /** false: batches stay in progress unless they are cancelled. */
  isEnding: boolean
  /** false: a batch is accepted without an answer. */
  isAnswering: boolean
}

export interface BatchBehaviour {
  /** What the model says to a call; 1,000 tokens in and 100 out. */
  answer(call: SentCall): string
  /** What became of a batched call; default, and null: it was answered. */
  readonly result?: (call: SentCall) => object | null
  /** Status that the batches' own address answers with instead of taking one. */
  readonly refuses?: number
}

interface Batch {
  readonly id: string
  readonly createdAt: string
  readonly requests: z.output<typeof batchSchema>['requests']
}

/** Anthropic's Messages and Message Batches on loopback; the results of a batch come in reverse. */
export async function openBatchServer({ answer, result, refuses }: BatchBehaviour): Promise<BatchServer> {
  const made: Batch[] = []
  const state: { -readonly [Key in keyof BatchServer]: BatchServer[Key] } = {
    url: '',
    batches: [],
    ids: [],
    ordinary: [],
    cancelled: [],
    polls: 0,
    isEnding: true,
    isAnswering: true,
  }
  const view = ({ id, createdAt, requests }: Batch): object => {
    const hasEnded = state.isEnding || state.cancelled.includes(id)
    return {
      id,
      type: 'message_batch',
      processing_status: hasEnded ? 'ended' : 'in_progress',
      request_counts: {
        processing: hasEnded ? 0 : requests.length,
        succeeded: hasEnded ? requests.length : 0,
        errored: 0,
        canceled: 0,
        expired: 0,
      },
      created_at: createdAt,
      expires_at: '2126-01-01T00:00:00Z',
      ended_at: hasEnded ? createdAt : null,
      archived_at: null,
      cancel_initiated_at: null,
      results_url: hasEnded ? `${state.url}/v1/messages/batches/${id}/results` : null,
    }
  }
  const take = (text: string): Batch => {
    const { requests } = batchSchema.parse(JSON.parse(text))
    const batch = { id: `msgbatch_${made.length + 1}`, createdAt: new Date().toISOString(), requests }
    made.push(batch)
    state.batches.push(requests.map(({ params }) => params))
    state.ids.push(requests.map(({ custom_id }) => custom_id))
    return batch
  }
  const resultLines = ({ requests }: Batch): string =>
    requests
      .toReversed()
      .map(({ custom_id, params }) => {
        const became = result?.(params) ?? { type: 'succeeded', message: messageOf(answer(params), params) }
        return JSON.stringify({ custom_id, result: became })
      })
      .join('\n')
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const path = request.url ?? ''
    if (path === '/v1/messages') {
      const call = paramsSchema.parse(JSON.parse(text))
      state.ordinary.push(call)
      return json(response, 200, messageOf(answer(call), call))
    }
    if (refuses !== undefined) return refuse(response, refuses, 'api_error')
    const [, id, action] = /^\/v1\/messages\/batches\/([^/?]+)(?:\/(\w+))?/.exec(path) ?? []
    if (id === undefined && request.method === 'POST') {
      const batch = take(text)
      return state.isAnswering ? json(response, 200, view(batch)) : undefined
    }
    if (id === undefined) return json(response, 200, { data: made.map(view), has_more: false, last_id: null })
    const batch = made.find((known) => known.id === id)
    if (batch === undefined) return refuse(response, 404, 'not_found_error')
    if (action === 'cancel') state.cancelled.push(id)
    if (action === 'results')
      return void response.writeHead(200, { 'content-type': 'application/x-jsonl' }).end(resultLines(batch))
    if (action === undefined) state.polls += 1
    json(response, 200, view(batch))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return state
}

/** The user's words of a call. */
export function promptOf({ messages }: SentCall): string {
  return messages[0]?.content[0]?.text ?? ''
}

/** An answer as the API gives it. */
export function messageOf(text: string, { model }: SentCall): object {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1_000, output_tokens: 100 },
  }
}

function refuse(response: ServerResponse, status: number, type: string): void {
  json(response, status, { type: 'error', error: { type, message: 'not here' } })
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
