import { Agent, createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Reply, Turn } from '../src/models/boundary/contract.ts'
import { openBoundary } from '../src/models/boundary/open-boundary.ts'
import { anthropic } from '../src/models/boundary/wire/anthropic.ts'
import { type Figure, timed } from './figure.ts'

const rounds = 400
const streams = 200
const addedAtMostMs = 3

/** As large as a usual request of a coding agent: tools, a system prompt, some history. */
const body = JSON.stringify({
  model: 'claude-test',
  max_tokens: 32_000,
  stream: true,
  tools: Array.from({ length: 12 }, (_, index) => ({ name: `tool${index}`, description: 'x'.repeat(4_000) })),
  messages: Array.from({ length: 40 }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: `message ${index} ${'words '.repeat(200)}`,
  })),
})

const chunkCount = 20
/** One block is a start, a delta and a stop, and the message has a frame: together at least twenty pieces. */
const turn: Turn = {
  blocks: Array.from({ length: 6 }, (_, index) => ({ kind: 'text', text: `part ${index}` })),
  stop: 'end',
  usage: { input: 1_000, output: 100, cacheRead: 0, cacheWrite: 0 },
}

/** One streamed exchange through the boundary, against a bare server that sends the same bytes in the same pieces. */
export function boundaryLatency(): Promise<Figure> {
  return withServers(async (ours, bare) => {
    const agent = new Agent({ keepAlive: true })
    for (let warm = 0; warm < 50; warm += 1) for (const url of [ours, bare]) await exchange(url, agent)
    const added: number[] = []
    const [oursMs, bareMs]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round += 1) {
      const measure = async (url: string, into: number[]) =>
        into.push(await timed(() => exchange(url, agent)))
      const sides = [() => measure(bare, bareMs), () => measure(ours, oursMs)]
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) await side()
      added.push((oursMs.at(-1) ?? Number.NaN) - (bareMs.at(-1) ?? Number.NaN))
    }
    agent.destroy()
    const addedMs = median(added)
    return {
      name: `a streamed exchange of ${chunksOf().length} pieces through the boundary`,
      limit: `at most ${addedAtMostMs} ms more than a bare Node server`,
      ratio: median(oursMs) / median(bareMs),
      ok: addedMs <= addedAtMostMs,
      detail: { addedMs, oursMs: median(oursMs), baselineMs: median(bareMs), rounds },
    }
  })
}

/** As many concurrent streams as a large run has, each read to its end. */
export function boundaryStreams(): Promise<Figure> {
  return withServers(async (ours) => {
    const agent = new Agent({ keepAlive: true, maxSockets: Infinity })
    const endings = ['message_stop', 'part 5']
    let failures = 0
    const tookMs = await timed(async () => {
      const all = await Promise.allSettled(Array.from({ length: streams }, () => exchange(ours, agent)))
      failures = all.filter(
        (one) => one.status === 'rejected' || !endings.every((ending) => one.value.includes(ending)),
      ).length
    })
    agent.destroy()
    return {
      name: `${streams} concurrent streams`,
      limit: 'without an error',
      ratio: (streams - failures) / streams,
      ok: failures === 0,
      detail: { failures, streams, tookMs },
    }
  }, 10)
}

async function withServers<T>(
  work: (ours: string, bare: string) => Promise<T>,
  chunkDelayMs = 0,
): Promise<T> {
  const boundary = await openBoundary()
  const answer = async (): Promise<Reply> => ({ kind: 'turn', turn: { ...turn, chunkDelayMs } })
  const session = boundary.open({ responder: { name: 'bench', answer } })
  const bare = await bareServer()
  try {
    const { port } = bare.address() as AddressInfo
    return await work(`${session.endpoint.url}/v1/messages`, `http://127.0.0.1:${port}/v1/messages`)
  } finally {
    bare.closeAllConnections()
    bare.close()
    await boundary.close()
  }
}

/** Reads the request and sends the same pieces without parsing them. */
async function bareServer(): Promise<Server> {
  const chunks = chunksOf()
  const server = createServer((incoming, outgoing) => {
    incoming.resume()
    incoming.on('end', () => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const chunk of chunks) outgoing.write(chunk)
      outgoing.end()
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return server
}

function chunksOf(): readonly string[] {
  const call = anthropic.readCall(JSON.parse(body), { kind: 'generate' })
  const { chunks } = anthropic.encode(turn, call, { id: 'bench', created: 0 })
  if (chunks.length < chunkCount) throw new Error(`${chunks.length} pieces are not a stream`)
  return chunks
}

function exchange(url: string, agent: Agent): Promise<string> {
  return new Promise((done, fail) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const outgoing = request(url, { method: 'POST', agent, headers }, (incoming) => {
      let text = ''
      incoming.setEncoding('utf8')
      incoming.on('data', (chunk: string) => {
        text += chunk
      })
      incoming.on('end', () => done(text))
      incoming.on('error', fail)
    })
    outgoing.on('error', fail)
    outgoing.end(body)
  })
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
