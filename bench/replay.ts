import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { openCassette } from '../src/models/boundary/cassette/open-cassette.ts'
import type { ModelEndpoint, Reply, Responder } from '../src/models/boundary/contract.ts'
import { openBoundary } from '../src/models/boundary/open-boundary.ts'
import { type Figure, inTemporary, timed } from './figure.ts'

const turns = 50
const modelMs = 100
const atLeast = 20
const rounds = 5

/** A conversation replayed from a cassette, opening it included, against the model that was recorded. Both over HTTP. */
export function replay(): Promise<Figure> {
  return inTemporary(async (directory) => {
    const dir = join(directory, 'cassette')
    const boundary = await openBoundary()
    const through = async (responder: Responder): Promise<void> => {
      const session = boundary.open({ responder })
      await converse(session.endpoint)
      const { problem } = session.report()
      await session.close()
      if (problem !== null) throw new Error(problem)
    }
    const open = (mode: 'record' | 'strict') =>
      openCassette({ dir, mode, places: {}, upstream: model(0), redact: (text) => text, facts: {} })
    try {
      const recording = open('record')
      await through(recording.responder)
      recording.finish()
      const oursMs: number[] = []
      for (let round = 0; round < rounds; round += 1)
        oursMs.push(await timed(() => through(open('strict').responder)))
      const baselineMs = await timed(() => through(model(modelMs)))
      const bestMs = Math.min(...oursMs)
      const ratio = baselineMs / bestMs
      return {
        name: `replay a conversation of ${turns} turns`,
        limit: `at least ${atLeast}x faster than a model that takes ${modelMs} ms a turn`,
        ratio,
        ok: ratio >= atLeast,
        detail: { oursMs: bestMs, baselineMs, perTurnMs: bestMs / turns },
      }
    } finally {
      await boundary.close()
    }
  })
}

function model(delayMs: number): Responder {
  const usage = { input: 1_000, output: 50, cacheRead: 0, cacheWrite: 0 }
  return {
    name: 'model',
    answer: async ({ call }): Promise<Reply> => {
      const text = `Answer ${call.messages.length}: ${'it is done as you asked. '.repeat(10)}`
      return { kind: 'turn', turn: { blocks: [{ kind: 'text', text }], stop: 'end', usage, delayMs } }
    },
  }
}

/** Like a coding agent: a large system prompt, many tools, and the whole history in every turn. */
async function converse({ url, key }: ModelEndpoint): Promise<void> {
  const system = 'You are a careful engineer. '.repeat(300)
  const tools = Array.from({ length: 12 }, (_, tool) => ({
    name: `tool_${tool}`,
    description: `Tool ${tool} does one thing well. `.repeat(120),
    input_schema: { type: 'object', properties: { path: { type: 'string' } } },
  }))
  const agent = new Agent({ keepAlive: true })
  const messages: { readonly role: string; readonly content: string }[] = []
  for (let turn = 0; turn < turns; turn += 1) {
    messages.push({ role: 'user', content: `Step ${turn}: ${'look at this file and go on. '.repeat(20)}` })
    const body = JSON.stringify({ model: 'm', max_tokens: 100, stream: true, system, tools, messages })
    const status = await post(`${url}/v1/messages`, key, body, agent)
    if (status !== 200) throw new Error(`turn ${turn} was answered with ${status}`)
    messages.push({ role: 'assistant', content: `Answer to step ${turn}.` })
  }
  agent.destroy()
}

/** Reads the answer to its end. */
function post(url: string, key: string, body: string, agent: Agent): Promise<number | undefined> {
  const headers = {
    'content-type': 'application/json',
    'x-api-key': key,
    'content-length': Buffer.byteLength(body),
  }
  return new Promise((settle, fail) => {
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.on('end', () => settle(answer.statusCode)).on('error', fail)
      answer.resume()
    })
    sent.on('error', fail)
    sent.end(body)
  })
}
