import { get, type IncomingMessage } from 'node:http'
import { labToken } from './server-lab.ts'

/** Follows a stream over a real connection, as the tests of the server need it. */
export interface SseClient {
  readonly status: number
  readonly ids: number[]
  readonly kinds: string[]
  readonly text: () => string
  /** What a client of the platform would send when it comes back. */
  lastEventId(): string
  readonly closed: Promise<void>
  stop(): void
}

export interface SseRequest {
  readonly lastEventId?: string
  readonly token?: string
  readonly onEvent?: (id: number) => void
}

export function openSseClient(url: string, request: SseRequest = {}): Promise<SseClient> {
  const { lastEventId, token = labToken, onEvent } = request
  const headers = {
    authorization: `Bearer ${token}`,
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  }
  return new Promise((done, fail) => {
    const outgoing = get(url, { headers, agent: false }, (incoming) =>
      done(follow(incoming, lastEventId ?? '', onEvent ?? (() => {}))),
    )
    outgoing.once('error', fail)
  })
}

function follow(incoming: IncomingMessage, from: string, onEvent: (id: number) => void): SseClient {
  const ids: number[] = []
  const kinds: string[] = []
  let whole = ''
  let rest = ''
  let last = from
  const closed = Promise.withResolvers<void>()
  incoming.setEncoding('utf8')
  incoming.on('data', (chunk: string) => {
    whole = (whole + chunk).slice(-100_000)
    const blocks = (rest + chunk).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => [line.split(': ', 1)[0], line]))
      const id = fields.get('id')?.slice(4)
      if (id !== undefined) last = id
      if (!fields.has('data')) continue
      ids.push(Number(id))
      kinds.push(fields.get('event')?.slice(7) ?? '')
      onEvent(Number(id))
    }
  })
  incoming.on('error', () => closed.resolve())
  incoming.on('close', () => closed.resolve())
  return {
    status: incoming.statusCode ?? 0,
    ids,
    kinds,
    text: () => whole,
    lastEventId: () => last,
    closed: closed.promise,
    stop: () => incoming.destroy(),
  }
}
