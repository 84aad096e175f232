import { createServer, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { GantryError } from '../core/error.ts'
import { errnoOf } from '../io/fs-error.ts'
import { digestSecret } from '../io/secret.ts'
import type { Store } from '../store/contract.ts'
import type { TaskQueue } from '../store/queue/contract.ts'
import type { AccessLog } from './access-log.ts'
import { bug, problem, toResponse } from './answer.ts'
import { bracketed, ownHosts } from './check-access.ts'
import { createApp } from './create-app.ts'
import type { FanOut, FanOutLimits } from './feed/contract.ts'
import { openFanOut } from './feed/fan-out.ts'
import { handlers, type TaskSubmitter } from './handlers.ts'
import { servedTasks } from './served-tasks.ts'
import { openSseSink } from './sse-sink.ts'

export interface ServerOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly token: string
  /** Further names in `Host` headers. */
  readonly allowHosts: readonly string[]
  /** Real paths. Tasks of other repositories are as good as not there. */
  readonly repositories: readonly string[]
  readonly queue: TaskQueue
  readonly store: Store
  readonly submitter: TaskSubmitter
  readonly log: AccessLog
  readonly limits?: FanOutLimits
  readonly connections?: ConnectionLimits
}

/** What a client may take of us before it has asked anything. */
export interface ConnectionLimits {
  readonly max: number
  /** From the first byte to the end of the head, and to the end of the body. */
  readonly headMs: number
  readonly requestMs: number
  readonly checkEveryMs: number
}

export interface GantryServer {
  readonly url: string
  readonly port: number
  readonly feed: Pick<FanOut, 'clients' | 'pendingBytes' | 'ringBytes'>
  /** Takes no more requests, ends the streams, and lets answers that are under way leave for a moment. */
  close(): Promise<void>
}

const connectionLimits: ConnectionLimits = {
  max: 4_096,
  headMs: 10_000,
  requestMs: 30_000,
  checkEveryMs: 5_000,
}
const graceMs = 1_500

/** Throws GantryError LOCKED for a port that is taken, USAGE for an address that is not ours. */
export async function openServer(options: ServerOptions): Promise<GantryServer> {
  const { host, queue, store, submitter, log, allowHosts, connections = connectionLimits } = options
  const tasks = servedTasks(queue, options.repositories)
  const feed = openFanOut(
    {
      events: queue.events,
      lastEventId: queue.lastEventId,
      watch: queue.watch,
      isServed: tasks.isServed,
      isOver: tasks.isOver,
    },
    log.failure,
    options.limits,
  )
  let isOwnHost: (header: string) => boolean = () => false
  const app = createApp({
    access: { token: digestSecret(options.token), isOwnHost: (header) => isOwnHost(header) },
    handlers: handlers({ queue, tasks, store, submitter }),
    log,
    stream({ filter, afterId }, outgoing) {
      if (!('assignSocket' in outgoing)) throw new Error('streams are for HTTP/1.1')
      const sink = openSseSink(outgoing, {
        drain: () => subscription?.drained(),
        close: () => subscription?.close(),
      })
      const subscription = sink === null ? null : feed.subscribe(sink, filter, afterId)
    },
  })
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    errorHandler: (error) => {
      if (error instanceof Error && error.name === 'RequestError')
        return toResponse(problem(400, 'bad_request', 'the request cannot be read'))
      log.failure(error)
      return toResponse(bug)
    },
  })
  const server = createServer(
    {
      noDelay: true,
      maxHeaderSize: 16 * 1024,
      headersTimeout: connections.headMs,
      requestTimeout: connections.requestMs,
      keepAliveTimeout: 5_000,
      connectionsCheckingInterval: connections.checkEveryMs,
    },
    (incoming, outgoing) => void listener(incoming, outgoing).catch(log.failure),
  )
  server.maxConnections = connections.max
  try {
    await listen(server, options)
  } catch (error) {
    feed.close()
    throw error
  }
  // Such as too many open files: a connection is lost, not the server.
  server.on('error', log.failure)
  const port = portOf(server)
  isOwnHost = ownHosts({ host, port }, allowHosts)
  return {
    url: `http://${bracketed(host)}:${port}`,
    port,
    feed,
    async close() {
      const closed = new Promise<void>((done) => server.close(() => done()))
      feed.close()
      server.closeIdleConnections()
      const late = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearTimeout(late)
    },
  }
}

async function listen(server: Server, { host, port }: Pick<ServerOptions, 'host' | 'port'>): Promise<void> {
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
  switch (errnoOf(cause)) {
    case 'EADDRINUSE':
      return new GantryError('LOCKED', `port ${port} on ${host} is taken`, {
        hint: 'Name another port with --port, or --port 0 for any free one.',
        cause,
      })
    case 'EACCES':
      return new GantryError('USAGE', `port ${port} on ${host} is not open to this user`, {
        hint: 'Name a port above 1023 with --port.',
        cause,
      })
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return new GantryError('USAGE', `${host} is not an address of this machine`, {
        hint: 'Name one of its addresses with --host; the default is 127.0.0.1.',
        cause,
      })
    default:
      return cause
  }
}

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a listening server has a port')
  return address.port
}
