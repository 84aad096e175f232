import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import { monotonicMs } from '../io/clock.ts'
import type { AccessLog } from './access-log.ts'
import {
  type ApiAnswer,
  type ApiProblem,
  bug,
  problem,
  problemOf,
  securityHeaders,
  toResponse,
} from './answer.ts'
import { type AccessRules, checkAccess } from './check-access.ts'
import type { Handlers } from './handlers.ts'
import { readRequest } from './read-request.ts'
import { type Route, type RouteName, routes } from './routes.ts'

type Env = { Bindings: Partial<HttpBindings> }

export interface AppOptions {
  readonly access: AccessRules
  readonly handlers: Handlers
  readonly log: AccessLog
  /** Takes the connection over. */
  readonly stream: (
    answer: Extract<ApiAnswer, { kind: 'stream' }>,
    outgoing: HttpBindings['outgoing'],
  ) => void
}

/** The API without a socket: the routes of the table, with one access check before all of them. */
export function createApp({ access, handlers, log, stream }: AppOptions): Hono<Env> {
  const app = new Hono<Env>()
  const table = Object.entries<Route>(routes)

  app.use(async (c, next) => {
    const began = monotonicMs()
    const isOpen = table.some(([, route]) => route.isOpen === true && route.path === c.req.path)
    const refused = checkAccess({ isOpen, header: (name) => c.req.header(name) }, access)
    if (refused !== null) c.res = toResponse(refused)
    else await next()
    const { pathname, search } = new URL(c.req.url)
    const durationMs = monotonicMs() - began
    log.request({ method: c.req.method, path: `${pathname}${search}`, status: c.res.status, durationMs })
  })

  for (const [name, route] of table)
    app.on(route.method.toUpperCase(), honoPath(route.path), async (c) => {
      const given = await readRequest(route, c)
      if (given.kind === 'problem') return toResponse(given)
      // The schemas of this very route have checked it.
      const handle = handlers[name as RouteName] as (given: object) => ApiAnswer | Promise<ApiAnswer>
      const answer = await handle(given.given)
      return answer.kind === 'stream' ? takeOver(c, answer) : toResponse(answer)
    })

  const takeOver = (c: Context<Env>, answer: Extract<ApiAnswer, { kind: 'stream' }>): Response => {
    if (c.req.raw.method === 'HEAD')
      return new Response(null, { headers: { ...securityHeaders, 'content-type': 'text/event-stream' } })
    const { outgoing } = c.env
    if (outgoing === undefined) throw new Error('a stream needs a connection')
    stream(answer, outgoing)
    return RESPONSE_ALREADY_SENT
  }

  app.notFound((c) => toResponse(notHere(c.req.method, c.req.path)))
  app.onError((error) => {
    const known = problemOf(error)
    if (known === null || known.status >= 500) log.failure(error)
    return toResponse(known ?? bug)
  })
  return app
}

function notHere(method: string, path: string): ApiProblem {
  const allowed = Object.values<Route>(routes)
    .filter((route) => pattern(route.path).test(path))
    .map((route) => route.method.toUpperCase())
  if (allowed.length === 0)
    return problem(404, 'not_found', 'there is nothing at this path', 'See /openapi.json.')
  const message = `${method} is not possible here, only ${allowed.join(', ')}`
  return { ...problem(405, 'bad_method', message), headers: { allow: allowed.join(', ') } }
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

function pattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`)
}
