import { GantryError } from '../core/error.ts'
import type { FeedFilter } from './feed/filter.ts'

/** What a request comes to, before it is bytes. */
export type Answer =
  | { readonly kind: 'json'; readonly status: 200 | 201; readonly value: unknown }
  | { readonly kind: 'text'; readonly type: string; readonly text: string }
  /** Nothing, and a client that follows a stream need not come back. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'stream'; readonly filter: FeedFilter; readonly afterId: number }
  | Problem

export interface Problem {
  readonly kind: 'problem'
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 421 | 500 | 503 | 507
  readonly code: string
  readonly message: string
  readonly hint: string | null
  readonly headers?: Readonly<Record<string, string>>
}

export function problem(
  status: Problem['status'],
  code: string,
  message: string,
  hint: string | null = null,
): Problem {
  return { kind: 'problem', status, code, message, hint }
}

const statusOf: Partial<Record<GantryError['code'], Problem['status']>> = {
  USAGE: 400,
  INVALID_FILE: 400,
  UNSAFE_PATH: 400,
  NOT_FOUND: 404,
  LOCKED: 409,
  NO_SPACE: 507,
}

/** null for what is no known fault: that is a bug, and nobody outside hears more of it. */
export function problemOf(error: unknown): Problem | null {
  if (!(error instanceof GantryError)) return null
  return problem(statusOf[error.code] ?? 503, error.code.toLowerCase(), error.message, error.hint ?? null)
}

export const bug: Problem = problem(
  500,
  'internal',
  'Gantry failed in a way it does not know.',
  'The log of the server says more.',
)
