import { type LoopbackHandler, openLoopbackServer } from '../../io/loopback-server.ts'
import { digestSecret, newSecret, type SecretDigest, sameSecret } from '../../io/secret.ts'
import { authorise, pathOnly } from './authorise.ts'
import type { Boundary } from './contract.ts'
import { sendFailure } from './send-failure.ts'
import { openSession, type SessionCore } from './session.ts'
import { routeCall } from './wire/index.ts'

export interface BoundaryOptions {
  /** Default: any free one. */
  readonly port?: number
  /** Of a request. Default 64 MB; what is larger is a 413. */
  readonly maxBodyBytes?: number
  /** For calls that are still being answered when their session closes, though their agent should be gone. Default 2 s. */
  readonly closeGraceMs?: number
}

/** Throws GantryError LOCKED when the port is taken. */
export async function openBoundary(options: BoundaryOptions = {}): Promise<Boundary> {
  const { closeGraceMs = 2_000, ...serverOptions } = options
  const sessions = new Map<SecretDigest, SessionCore>()

  const find = (token: string): SessionCore | null => {
    const digest = digestSecret(token)
    let found: SessionCore | null = null
    for (const [kept, session] of sessions) if (sameSecret(kept, digest)) found = session
    return found
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
      const token = newSecret()
      const digest = digestSecret(token)
      const session = openSession(sessionOptions, closeGraceMs)
      sessions.set(digest, session)
      return {
        endpoint: { url: `http://127.0.0.1:${server.port}/${token}`, key: token },
        stopped: session.stopped,
        report: session.report,
        async close() {
          sessions.delete(digest)
          await session.close()
        },
      }
    },
    async close() {
      const open = [...sessions.values()]
      sessions.clear()
      await server.close()
      await Promise.all(open.map((session) => session.close()))
    },
  }
}
