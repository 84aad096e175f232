import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { GantryError } from '../core/error.ts'
import { errnoOf } from './fs-error.ts'

export interface LoopbackOptions {
  /** Default: any free port. */
  readonly port?: number
  /** Default 64 MB. */
  readonly maxBodyBytes?: number
  /** Answers one request. If it throws, the connection ends and the error is rethrown, because it is a bug. */
  readonly handle: LoopbackHandler
}

export type LoopbackHandler = (request: LoopbackRequest, reply: LoopbackReply) => Promise<void>

export type LoopbackRequest = ReturnType<typeof requestOf>

export type LoopbackReply = ReturnType<typeof replyTo>

const defaultMaxBodyBytes = 64 * 1024 * 1024

/** An HTTP server that only this machine can reach. Throws GantryError LOCKED when the port is in use. */
export async function openLoopbackServer(options: LoopbackOptions) {
  const { port = 0, maxBodyBytes = defaultMaxBodyBytes, handle } = options
  const server = createServer({ noDelay: true, maxHeaderSize: 65_536 }, (incoming, outgoing) => {
    const reply = replyTo(outgoing)
    void handle(requestOf(incoming, outgoing, maxBodyBytes), reply).catch((bug: unknown) => {
      reply.destroy()
      throw bug
    })
  })
  // An agent is silent while its tools run. Closing idle connections would race with its next request.
  server.keepAliveTimeout = 0
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  await listenOn(server, { host: '127.0.0.1', port })
  /** Ends every connection. The handlers are notified by their signals. */
  const close = async (): Promise<void> => {
    const closed = new Promise<void>((done) => server.close(() => done()))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  return { port: portOf(server), close }
}

/** Throws GantryError LOCKED for a port in use, USAGE for an address that cannot be used. */
export async function listenOn(
  server: Server,
  { host, port }: { host: string; port: number },
): Promise<void> {
  const listening = Promise.withResolvers<void>()
  server.once('error', listening.reject)
  try {
    server.listen({ port, host, backlog: 1_024 }, listening.resolve)
    await listening.promise
  } catch (cause) {
    throw unusable(host, port, cause)
  }
  server.off('error', listening.reject)
}

function unusable(host: string, port: number, cause: unknown): unknown {
  const refused = (code: 'LOCKED' | 'USAGE', message: string, hint: string): GantryError =>
    new GantryError(code, message, { hint, cause })
  const otherPort = 'Choose another port (--port), or 0 for any free one.'
  switch (errnoOf(cause)) {
    case 'EADDRINUSE':
      return refused('LOCKED', `port ${port} on ${host} is already in use`, otherPort)
    case 'EACCES':
      return refused('USAGE', `port ${port} on ${host} needs more privileges`, 'Choose a port above 1023.')
    case 'ERR_SOCKET_BAD_PORT':
      return refused('USAGE', `${port} is not a port`, otherPort)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return refused(
        'USAGE',
        `${host} is not an address of this machine`,
        'Choose one of its addresses with --host. The default is 127.0.0.1.',
      )
    default:
      return cause
  }
}

export function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address()
  if (address === null || typeof address === 'string') throw new Error('a listening server has a port')
  return address.port
}

function requestOf(incoming: IncomingMessage, outgoing: ServerResponse, maxBodyBytes: number) {
  const gone = new AbortController()
  const signal: AbortSignal = gone.signal
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort(new Error('the client went away'))
  })
  return {
    method: incoming.method ?? 'GET',
    /** With the query, as in the request line. */
    path: incoming.url ?? '/',
    /** Names in lower case. */
    headers: headersOf(incoming),
    /** The whole body; null when it is larger than allowed. Rejects when the client disconnects early. */
    readBody: (): Promise<Uint8Array | null> => readBody(incoming, maxBodyBytes),
    /** Aborted when the client disconnects before the end of the reply. */
    signal,
  }
}

function headersOf(incoming: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(incoming.headers))
    if (value !== undefined) headers[name] = typeof value === 'string' ? value : value.join(', ')
  return headers
}

async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<Uint8Array | null> {
  const chunks: Buffer[] = []
  let bytes = 0
  const whole = Promise.withResolvers<Uint8Array | null>()
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= maxBytes) chunks.push(chunk)
    else {
      // Read and drop the rest, because a client that is still sending would not see the answer otherwise.
      chunks.length = 0
      whole.resolve(null)
    }
  })
  incoming.once('end', () => whole.resolve(Buffer.concat(chunks)))
  incoming.once('error', whole.reject)
  incoming.once('close', () => whole.reject(new Error('the client went away')))
  return whole.promise
}

function replyTo(outgoing: ServerResponse) {
  const open = (): boolean => !outgoing.destroyed && outgoing.socket?.destroyed !== true
  // The signal reports a disconnected client.
  outgoing.on('error', () => {})
  return {
    /** The head is sent with the first piece. */
    begin(status: number, headers: Readonly<Record<string, string>>): void {
      if (open()) outgoing.writeHead(status, headers)
    },
    /** Sends the head now, before the first piece. */
    flush(): void {
      if (open()) outgoing.flushHeaders()
    },
    /** Settles when the client has caught up. Writes to a disconnected client are dropped. */
    async write(chunk: Uint8Array | string): Promise<void> {
      if (!open() || outgoing.write(chunk)) return
      await settled(outgoing, 'drain')
    },
    /** Settles when the reply is sent or the client has disconnected. */
    async end(): Promise<void> {
      if (!open()) return
      outgoing.end()
      if (!outgoing.writableFinished) await settled(outgoing, 'finish')
    },
    /** Ends the connection after the pending bytes without ending the reply, so the client sees a cut. */
    cut(): void {
      outgoing.socket?.destroySoon()
    },
    /** Ends the connection at once and drops pending bytes. */
    destroy(): void {
      outgoing.destroy()
    },
  }
}

/** `close` is always emitted, so no caller waits forever. */
function settled(outgoing: ServerResponse, event: 'drain' | 'finish'): Promise<void> {
  return new Promise((done) => {
    const settle = (): void => {
      outgoing.off(event, settle)
      outgoing.off('close', settle)
      done()
    }
    outgoing.on(event, settle)
    outgoing.on('close', settle)
  })
}
