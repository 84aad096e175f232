import { createServer, type ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { listenOn, portOf } from '../io/loopback-server.ts'
import { digestSecret } from '../io/secret.ts'
import type { AccessLog } from './access-log.ts'
import { bug, problem, securityHeaders, toResponse } from './answer.ts'
import { bracketed, ownHosts } from './check-access.ts'
import { createApp } from './create-app.ts'
import type { FanOutLimits, FeedSink } from './feed/contract.ts'
import { openFanOut } from './feed/fan-out.ts'
import { type HandlerOptions, handlers } from './handlers.ts'
import { pageFiles } from './page-files.ts'
import { pageSession } from './page-session.ts'
import { runFollowers } from './runs/run-followers.ts'
import { servedTasks } from './served-tasks.ts'

export interface ServerOptions
  extends Pick<HandlerOptions, 'queue' | 'store' | 'submitter' | 'guardHome' | 'queueStatus'> {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  readonly token: string
  /** Additional allowed `Host` headers. */
  readonly allowHosts: readonly string[]
  /** Real paths. Tasks of other repositories are hidden; null shows all. */
  readonly repositories: readonly string[] | null
  /** Directory of gantry.yaml, which labels belong to. */
  readonly project?: string
  readonly log: AccessLog
  readonly limits?: FanOutLimits
  readonly connections?: ConnectionLimits
}

/** Limits for clients that have not sent a full request. */
export interface ConnectionLimits {
  readonly max: number
  /** Time for the head, and for the whole request. */
  readonly headMs: number
  readonly requestMs: number
  readonly checkEveryMs: number
}

export type GantryServer = Awaited<ReturnType<typeof openServer>>

const connectionLimits: ConnectionLimits = {
  max: 4_096,
  headMs: 10_000,
  requestMs: 30_000,
  checkEveryMs: 5_000,
}
const graceMs = 1_500

/** Throws GantryError LOCKED for a port in use, USAGE for an address that is not of this machine. */
export async function openServer(options: ServerOptions) {
  const { host, queue, store, log, allowHosts, connections = connectionLimits } = options
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
  let port = 0
  const session = pageSession(options.token, () => ({ host, port }), store.clock)
  const followers = runFollowers(store, log.failure, options.limits)
  const app = createApp({
    access: {
      token: digestSecret(options.token),
      isOwnHost: (header) => isOwnHost(header),
      isSignedIn: session.isSignedIn,
    },
    handlers: handlers({ ...options, tasks, session, runs: { store, project: options.project ?? null } }),
    log,
    page: pageFiles(),
    stream(answer, outgoing) {
      if (!('assignSocket' in outgoing)) throw new Error('streams need HTTP/1.1')
      const sink = openSseSink(outgoing, {
        drain: () => subscription?.drained(),
        close: () => subscription?.close(),
      })
      const subscription =
        sink === null
          ? null
          : answer.kind === 'follow'
            ? followers.subscribe(sink, answer.runId, answer.from)
            : feed.subscribe(sink, answer.filter, answer.afterId)
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
    await listenOn(server, options)
  } catch (error) {
    feed.close()
    throw error
  }
  // For example too many open files. Only the connection is lost.
  server.on('error', log.failure)
  port = portOf(server)
  isOwnHost = ownHosts({ host, port }, allowHosts)
  return {
    url: `http://${bracketed(host)}:${port}`,
    port,
    feed,
    newCode: session.newCode,
    /** Accepts no more requests, ends the streams, and gives pending responses a moment to finish. */
    async close(): Promise<void> {
      const closed = new Promise<void>((done) => server.close(() => done()))
      feed.close()
      followers.close()
      server.closeIdleConnections()
      const late = setTimeout(() => server.closeAllConnections(), graceMs)
      await closed
      clearTimeout(late)
    },
  }
}

const streamHeaders = {
  ...securityHeaders,
  'content-type': 'text/event-stream; charset=utf-8',
  'x-accel-buffering': 'no',
  connection: 'close',
}

/** How long a client may take to read the rest of an ended stream. */
const lingerMs = 10_000

/**
 * A response as an event stream. It ends with its connection and is not chunked, so all clients get the same bytes. null when the
 * connection cannot be written to.
 */
function openSseSink(
  outgoing: ServerResponse,
  on: { readonly drain: () => void; readonly close: () => void },
): FeedSink | null {
  const { socket } = outgoing
  // An earlier request on the same connection is not answered yet. No real stream client does this.
  if (socket === null || socket.destroyed) {
    outgoing.destroy()
    outgoing.req.socket.destroy()
    return null
  }
  outgoing.useChunkedEncodingByDefault = false
  outgoing.writeHead(200, streamHeaders)
  outgoing.flushHeaders()
  socket.setNoDelay(true)
  outgoing.once('close', on.close)
  return {
    write(bytes) {
      if (socket.destroyed) return true
      // A socket emits 'drain' only after more than it buffers itself.
      socket.write(bytes, () => socket.writableLength === 0 && on.drain())
      return socket.writableLength === 0
    },
    get pendingBytes() {
      return socket.writableLength
    },
    end() {
      socket.setTimeout(lingerMs)
      outgoing.end()
    },
    destroy: () => socket.destroy(),
  }
}
