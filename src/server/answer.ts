import { GantryError } from '../core/error.ts'
import type { FeedFilter } from './feed/contract.ts'

export type ApiAnswer =
  | {
      readonly kind: 'json'
      readonly status: 200 | 201
      readonly value: unknown
      readonly headers?: Readonly<Record<string, string>>
    }
  | { readonly kind: 'text'; readonly type: string; readonly text: string }
  /** No content: the client of a stream should not reconnect. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'stream'; readonly filter: FeedFilter; readonly afterId: number }
  /** Trials of a run from a position in its log on. */
  | { readonly kind: 'follow'; readonly runId: string; readonly from: number }
  | ApiProblem

export interface ApiProblem {
  readonly kind: 'problem'
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 421 | 500 | 503 | 507
  readonly code: string
  readonly message: string
  readonly hint: string | null
  readonly headers?: Readonly<Record<string, string>>
}

export function problem(
  status: ApiProblem['status'],
  code: string,
  message: string,
  hint: string | null = null,
): ApiProblem {
  return { kind: 'problem', status, code, message, hint }
}

export function ok(value: unknown): ApiAnswer {
  return { kind: 'json', status: 200, value }
}

const statusOf: Partial<Record<GantryError['code'], ApiProblem['status']>> = {
  USAGE: 400,
  INVALID_FILE: 400,
  UNSAFE_PATH: 400,
  NOT_FOUND: 404,
  WRONG_STATE: 409,
  LOCKED: 409,
  NO_SPACE: 507,
}

/** null for an unknown error, which is a bug. Its details stay in the log. */
export function problemOf(error: unknown): ApiProblem | null {
  if (!(error instanceof GantryError)) return null
  // Hints name commands; a client has requests.
  const hint = error.hint?.replaceAll(
    /gantry task (show|apply|commit) (\w+)(?: --(diff))?/g,
    (_, act, id, diff) =>
      act === 'show' ? `GET /v1/tasks/${id}${diff ? '/diff' : ''}` : `POST /v1/tasks/${id}/${act}`,
  )
  return problem(statusOf[error.code] ?? 503, error.code.toLowerCase(), error.message, hint ?? null)
}

export const bug: ApiProblem = problem(
  500,
  'internal',
  'Gantry failed with an unexpected error.',
  'See the log of the server.',
)

/** Responses are not for web pages, caches or frames. There are no CORS headers, on purpose. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

export type StreamAnswer = Extract<ApiAnswer, { kind: 'stream' | 'follow' }>

export function toResponse(answer: Exclude<ApiAnswer, StreamAnswer>): Response {
  switch (answer.kind) {
    case 'json':
      return json(answer.status, answer.value, answer.headers)
    case 'text':
      return new Response(answer.text, { headers: { ...securityHeaders, 'content-type': answer.type } })
    case 'nothing':
      return new Response(null, { status: 204, headers: securityHeaders })
    case 'problem': {
      const { status, code, message, hint, headers } = answer
      return json(status, { error: { code, message, hint } }, headers)
    }
  }
}

function json(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(`${JSON.stringify(value)}\n`, {
    status,
    headers: { ...securityHeaders, 'content-type': 'application/json; charset=utf-8', ...headers },
  })
}
