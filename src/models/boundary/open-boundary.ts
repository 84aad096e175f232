import { noTokens } from '../../core/trial.ts'
import { type LoopbackHandler, openLoopbackServer } from '../../io/loopback-server.ts'
import { digestSecret, newSecret, type SecretDigest, sameSecret } from '../../io/secret.ts'
import { authorise, pathOnly } from './authorise.ts'
import type { Boundary, BoundarySession, ModelEndpoint, Responder, SessionOptions } from './contract.ts'
import { type AuthorisedRequest, openSession, type SessionCore, sendFailure } from './open-session.ts'
import { routeCall } from './wire/index.ts'

export interface BoundaryOptions {
  /** Default: any free port. */
  readonly port?: number
  /** Size limit of a request. Default 64 MB; a larger one is a 413. */
  readonly maxBodyBytes?: number
  /** How long `close` waits for calls that are still being answered. Default 2 s. */
  readonly closeGraceMs?: number
}

/** Throws GantryError LOCKED when the port is taken. */
export async function openBoundary(options: BoundaryOptions = {}): Promise<Boundary> {
  const { closeGraceMs = 2_000, ...serverOptions } = options
  const entries = new Map<SecretDigest, Entry>()

  const find = (token: string): Entry | null => {
    const digest = digestSecret(token)
    let found: Entry | null = null
    for (const [kept, entry] of entries) if (sameSecret(kept, digest)) found = entry
    return found
  }
  const letIn = (entry: Entry): { readonly endpoint: ModelEndpoint; close(): Promise<void> } => {
    const token = newSecret()
    const digest = digestSecret(token)
    entries.set(digest, entry)
    return {
      endpoint: { url: `http://127.0.0.1:${server.port}/${token}`, key: token },
      async close() {
        entries.delete(digest)
        await entry.close()
      },
    }
  }

  const handle: LoopbackHandler = async (request, reply) => {
    if (request.method === 'HEAD') {
      reply.begin(200, {})
      return reply.end()
    }
    const entry = authorise(request, find)
    if (entry === null) {
      const format = routeCall(request.method, pathOnly(request.path), request.headers)?.format ?? null
      const message = 'No session of the model boundary has this key, or it is over.'
      return sendFailure(format, { status: 401, message }, reply)
    }
    const { path, headers } = entry.request
    const routed = routeCall(request.method, pathOnly(path), request.headers)
    if (routed === null) {
      const message = `The model boundary knows no ${request.method} ${pathOnly(path)}.`
      return sendFailure(null, { status: 404, message }, reply)
    }
    await entry.session.take({ ...routed, request, reply, path, headers })
  }

  const server = await openLoopbackServer({ handle, ...serverOptions })
  return {
    port: server.port,
    open(sessionOptions) {
      const session = openSession(sessionOptions, closeGraceMs)
      return { stopped: session.stopped, report: session.report, ...letIn(session) }
    },
    openLine() {
      const line = openLine(closeGraceMs)
      const { endpoint, close } = letIn(line)
      return { endpoint, open: (sessionOptions) => ({ endpoint, ...line.open(sessionOptions) }), close }
    },
    async close() {
      const open = [...entries.values()]
      entries.clear()
      await server.close()
      await Promise.all(open.map((entry) => entry.close()))
    },
  }
}

/** The session or line of a token. */
type Entry = Pick<SessionCore, 'take' | 'close'>

function openLine(closeGraceMs: number) {
  const idle = openSession({ responder: fewWords }, closeGraceMs)
  let current: SessionCore | null = null
  return {
    take: (arrival: AuthorisedRequest): Promise<void> => (current ?? idle).take(arrival),
    open(options: SessionOptions): Omit<BoundarySession, 'endpoint'> {
      if (current !== null) throw new Error('a line has one session at a time')
      const session = openSession(options, closeGraceMs)
      current = session
      return {
        stopped: session.stopped,
        report: session.report,
        async close() {
          // A call that arrives while the last answers are sent belongs to no session.
          if (current === session) current = null
          await session.close()
        },
      }
    },
    async close(): Promise<void> {
      await Promise.all([idle.close(), current?.close()])
    },
  }
}

/** Answers calls that arrive between sessions. */
const fewWords: Responder = {
  name: 'idle',
  answer: async () => ({
    kind: 'turn',
    turn: { blocks: [{ kind: 'text', text: 'Done.' }], stop: 'end', usage: noTokens },
  }),
}
