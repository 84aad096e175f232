import type { HonoRequest } from 'hono'
import type { z } from 'zod'
import { issueText } from '../io/issue-text.ts'
import { type Problem, problem } from './answer.ts'
import { taskIdSchema } from './api-schemas.ts'
import { readJsonBody } from './read-json-body.ts'
import type { Route } from './routes.ts'

export type ReadRequest = { readonly kind: 'given'; readonly given: object } | Problem

/** A request as its route wants it, or what is wrong with it. */
export async function readRequest(
  { path, query, body }: Route,
  { req }: { readonly req: HonoRequest },
): Promise<ReadRequest> {
  const id = path.includes('{id}') ? check(taskIdSchema, req.param('id'), 'the id in the path') : ok('')
  if (id.kind === 'problem') return id
  const words = readQuery(new URL(req.url).searchParams, query)
  if (words.kind === 'problem') return words
  const sent = body === undefined ? ok(undefined) : await readJsonBody(req.raw)
  if (sent.kind === 'problem') return sent
  const content = body === undefined ? ok(undefined) : check(body, sent.value, 'the body')
  if (content.kind === 'problem') return content
  const given = {
    id: id.value,
    query: words.value,
    body: content.value,
    lastEventId: req.header('last-event-id'),
  }
  return { kind: 'given', given }
}

type Checked = { readonly kind: 'ok'; readonly value: unknown } | Problem

function ok(value: unknown): { readonly kind: 'ok'; readonly value: unknown } {
  return { kind: 'ok', value }
}

function readQuery(params: URLSearchParams, schema: z.ZodObject | undefined): Checked {
  const names = [...params.keys()]
  const [twice] = names.filter((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) return problem(400, 'bad_request', `the query has ${shown(twice)} more than once`)
  if (schema !== undefined) return check(schema, Object.fromEntries(params), 'the query')
  const [unknown] = names
  if (unknown === undefined) return ok(undefined)
  return problem(400, 'bad_request', `the query has ${shown(unknown)}, which nothing here knows`)
}

function check(schema: z.ZodType, value: unknown, what: string): Checked {
  const read = schema.safeParse(value)
  if (read.success) return ok(read.data)
  const lines = read.error.issues.slice(0, 5).map((issue) => {
    const place = issue.path.map(String).join('.')
    return `${place === '' ? what : `${what}: ${place}`}: ${issueText(issue, valueAt(value, issue.path))}`
  })
  return problem(400, 'bad_request', lines.join('\n').slice(0, 1_000), 'See /openapi.json for what fits.')
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  )
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 50))
}
