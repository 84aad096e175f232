import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import type { z } from 'zod'
import { monotonicMs } from '../io/clock.ts'
import { issueText } from '../io/issue-text.ts'
import { valueAt } from '../io/yaml.ts'
import type { AccessLog } from './access-log.ts'
import {
  type ApiAnswer,
  type ApiProblem,
  bug,
  problem,
  problemOf,
  type StreamAnswer,
  securityHeaders,
  toResponse,
} from './answer.ts'
import { pathParameters } from './api-schemas.ts'
import { type AccessRules, checkAccess } from './check-access.ts'
import type { PageFiles } from './page-files.ts'
import type { NamedRoute } from './route.ts'
import { type Handlers, type RouteName, routeTable } from './routes.ts'

type Env = { Bindings: Partial<HttpBindings> }

export interface AppOptions {
  readonly access: AccessRules
  readonly handlers: Handlers
  readonly log: AccessLog
  /** Files of the page. They need no token: everything they show comes from the API. */
  readonly page: PageFiles
  readonly stream: (answer: StreamAnswer, outgoing: HttpBindings['outgoing']) => void
}

/** The API without a socket: the routes of the table behind one access check. */
export function createApp({ access, handlers, log, page, stream }: AppOptions): Hono<Env> {
  const app = new Hono<Env>()

  app.use(async (c, next) => {
    const began = monotonicMs()
    const { method, path } = c.req
    const file = method === 'GET' || method === 'HEAD' ? page.get(path) : undefined
    const isOpen =
      file !== undefined || routeTable.some((route) => route.isOpen === true && route.path === path)
    const refused = checkAccess({ isOpen, method, header: (name) => c.req.header(name) }, access)
    if (refused !== null) c.res = toResponse(refused)
    else if (file !== undefined) c.res = new Response(file.bytes, { headers: file.headers })
    else await next()
    const { pathname, search } = new URL(c.req.url)
    const durationMs = monotonicMs() - began
    log.request({ method: c.req.method, path: `${pathname}${search}`, status: c.res.status, durationMs })
  })

  for (const route of routeTable)
    app.on(route.method, route.path.replaceAll(/\{(\w+)\}/g, ':$1'), async (c) => {
      const given = await readRequest(route, c)
      if (given.kind === 'problem') return toResponse(given)
      // The schemas of this route have checked it.
      const handle = handlers[route.name as RouteName] as (given: object) => ApiAnswer | Promise<ApiAnswer>
      const answer = await handle(given.given)
      return answer.kind === 'stream' || answer.kind === 'follow' ? takeOver(c, answer) : toResponse(answer)
    })

  const takeOver = (c: Context<Env>, answer: StreamAnswer): Response => {
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
  const fits = (route: NamedRoute) =>
    new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path)
  const allowed = routeTable.filter(fits).map((route) => route.method)
  if (allowed.length === 0) return problem(404, 'not_found', 'there is no such path', 'See /openapi.json.')
  const message = `${method} is not allowed here, only ${allowed.join(', ')}`
  return { ...problem(405, 'bad_method', message), headers: { allow: allowed.join(', ') } }
}

/** A request in the form its route expects, or what is wrong with it. */
async function readRequest(
  { path, query, body }: NamedRoute,
  { req, env }: Pick<Context<Env>, 'req' | 'env'>,
): Promise<{ readonly kind: 'given'; readonly given: object } | ApiProblem> {
  const named: Record<string, unknown> = {}
  for (const [name, schema] of Object.entries(pathParameters)) {
    const isThere = path.includes(`{${name}}`)
    const read = isThere ? check(schema, req.param(name), `the ${name} in the path`) : checked('')
    if (read.kind === 'problem') return read
    named[name] = read.value
  }
  const asked = readQuery(new URL(req.url).searchParams, query)
  if (asked.kind === 'problem') return asked
  const sent = body === undefined ? checked(undefined) : await readJsonBody(req.raw)
  const content = body === undefined || sent.kind === 'problem' ? sent : check(body, sent.value, 'the body')
  if (content.kind === 'problem') return content
  const lastEventId = req.header('last-event-id')
  if (lastEventId !== undefined && !/^\d{1,15}$/.test(lastEventId))
    return problem(
      400,
      'bad_event_id',
      'Last-Event-ID is not an event id',
      'Send a number or omit the header.',
    )
  const given = {
    ...named,
    query: asked.value,
    body: content.value,
    lastEventId: lastEventId === undefined ? undefined : Number(lastEventId),
    peerPort: env?.incoming?.socket.remotePort,
  }
  return { kind: 'given', given }
}

type Checked = { readonly kind: 'ok'; readonly value: unknown } | ApiProblem

function checked(value: unknown): Checked {
  return { kind: 'ok', value }
}

function readQuery(params: URLSearchParams, schema: z.ZodObject | undefined): Checked {
  const names = [...params.keys()]
  const [twice] = names.filter((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) return problem(400, 'bad_request', `the query has ${shown(twice)} more than once`)
  if (schema !== undefined) return check(schema, Object.fromEntries(params), 'the query')
  const [unknown] = names
  if (unknown === undefined) return checked(undefined)
  return problem(400, 'bad_request', `the query has the unknown parameter ${shown(unknown)}`)
}

function check(schema: z.ZodType, value: unknown, what: string): Checked {
  const read = schema.safeParse(value)
  if (read.success) return checked(read.data)
  const lines = read.error.issues.slice(0, 5).map((issue) => {
    const place = issue.path.map(String).join('.')
    return `${place === '' ? what : `${what}: ${place}`}: ${issueText(issue, valueAt(value, issue.path))}`
  })
  return problem(400, 'bad_request', lines.join('\n').slice(0, 1_000), 'See /openapi.json.')
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 50))
}

/** Enough for a description of the maximum length with every character escaped. */
const maxBodyBytes = 128 * 1024

/** The JSON of a request; undefined when it has no body. Never reads more than the limit. */
async function readJsonBody(request: Request): Promise<Checked> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  const bytes = declared > maxBodyBytes ? 'too_large' : await bytesOf(request)
  if (bytes === 'cut_off') return problem(400, 'cut_off', 'the body is incomplete')
  if (bytes === 'too_large')
    return {
      ...problem(
        413,
        'too_large',
        `a request may have at most ${maxBodyBytes.toLocaleString('en-US')} bytes`,
        'A task may have at most 10,000 characters.',
      ),
      headers: { connection: 'close' },
    }
  if (bytes.length === 0) return checked(undefined)
  const type = request.headers.get('content-type') ?? ''
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type) || !/^identity$/i.test(encoding))
    return problem(
      415,
      'no_json',
      'only uncompressed application/json bodies are accepted',
      'Send the header Content-Type: application/json.',
    )
  try {
    return checked(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)))
  } catch {
    return problem(400, 'bad_json', 'the body is not valid JSON', null)
  }
}

async function bytesOf({ body }: Request): Promise<Uint8Array | 'too_large' | 'cut_off'> {
  const chunks: Uint8Array[] = []
  let size = 0
  if (body === null) return new Uint8Array()
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > maxBodyBytes) return 'too_large'
      chunks.push(chunk)
    }
  } catch {
    // The client disconnected, or the chunks are invalid.
    return 'cut_off'
  }
  return Buffer.concat(chunks)
}
