import type { HonoRequest } from 'hono'
import type { z } from 'zod'
import { issueText } from '../io/issue-text.ts'
import { type ApiProblem, problem } from './answer.ts'
import { taskIdSchema } from './api-schemas.ts'
import type { Route } from './routes.ts'

export type ReadRequest = { readonly kind: 'given'; readonly given: object } | ApiProblem

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

type Checked = { readonly kind: 'ok'; readonly value: unknown } | ApiProblem

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

/** A description of the longest allowed text, with every character escaped, has room. */
const maxBodyBytes = 128 * 1024

type ReadBody = { readonly kind: 'body'; readonly value: unknown } | ApiProblem

/** The JSON of a request; undefined when it has no body. Never holds more than the limit. */
async function readJsonBody(request: Request): Promise<ReadBody> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  const bytes = declared > maxBodyBytes ? 'too_large' : await bytesOf(request)
  if (bytes === 'cut_off') return problem(400, 'cut_off', 'the body ended before its end')
  if (bytes === 'too_large')
    return {
      ...problem(
        413,
        'too_large',
        `a request has at most ${maxBodyBytes.toLocaleString('en-US')} bytes`,
        'A task has at most 10,000 characters.',
      ),
      headers: { connection: 'close' },
    }
  if (bytes.length === 0) return { kind: 'body', value: undefined }
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type) || isEncoded(request))
    return problem(
      415,
      'no_json',
      'only plain application/json bodies are taken',
      'Send the header Content-Type: application/json.',
    )
  try {
    return { kind: 'body', value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch {
    return problem(400, 'bad_json', 'the body is not valid JSON', null)
  }
}

function isEncoded(request: Request): boolean {
  return (request.headers.get('content-encoding') ?? 'identity').toLowerCase() !== 'identity'
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
    // The client went away, or its pieces make no sense.
    return 'cut_off'
  }
  return Buffer.concat(chunks)
}
