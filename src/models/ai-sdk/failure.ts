import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  NoContentGeneratedError,
  TypeValidationError,
} from 'ai'
import type { AgentFailure } from '../../core/event.ts'
import type { Completion } from '../provider.ts'
import { retryAfterMs } from './retry-after.ts'

type Failure = Extract<Completion, { readonly kind: 'failure' }>

const tooLong =
  /prompt is too long|context[_ ](?:length|window)|maximum context|too many (?:input )?tokens|token count.{0,60}exceed|exceeds? the (?:maximum|limit).{0,40}tokens|request_too_large|input is too long/i
const noMoney = /insufficient_quota|credit balance is too low|billing_(?:error|hard_limit)/i
const refusedContent = /content_policy_violation|content_filter|content management policy/i
const wrongKey = /api[_ ]key[_ ]invalid|invalid[_ ]api[_ ]key|api key not valid|incorrect api key/i
/** A server error or a broken connection: the next call may succeed. */
const cutOff: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'EAI_AGAIN'])
const tooSlow: ReadonlySet<string> = new Set([
  'ETIMEDOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
])

/** The failure in Gantry's terms; null for errors that the provider did not cause. */
export function failureOf(error: unknown, nowMs = Date.now()): Failure | null {
  if (APICallError.isInstance(error)) return callFailure(error, nowMs)
  if (isNonsense(error))
    return { kind: 'failure', reason: 'malformed', message: error.message, passing: true }
  return null
}

export function isTooLong(said: string): boolean {
  return tooLong.test(said)
}

function callFailure(error: APICallError, nowMs: number): Failure {
  const code = errorCode(error)
  if (code !== null && tooSlow.has(code)) return failure('timeout', error)
  if (code !== null && cutOff.has(code)) return { ...failure('unavailable', error), passing: true }
  const { statusCode } = error
  if (statusCode === undefined) return failure('unavailable', error)
  if (statusCode < 400) return { ...failure('malformed', error), passing: true }
  const waitMs = retryAfterMs(error, nowMs)
  return {
    ...failure(reasonOf(statusCode, `${error.message} ${error.responseBody ?? ''}`), error),
    ...(passingStatus.has(statusCode) && { passing: true }),
    ...(waitMs !== null && { retryAfterMs: waitMs }),
  }
}

const passingStatus: ReadonlySet<number> = new Set([408, 500, 502, 504])

function reasonOf(status: number, said: string): AgentFailure {
  if (noMoney.test(said) || status === 401 || status === 402 || status === 403 || wrongKey.test(said))
    return 'auth'
  if (/overloaded_error/.test(said) || status === 529 || status === 503) return 'overloaded'
  if (status === 429) return 'rate_limit'
  if (status === 413 || (status < 500 && tooLong.test(said))) return 'context'
  if (status === 408) return 'timeout'
  if (status < 500 && refusedContent.test(said)) return 'refused'
  return 'unavailable'
}

function failure(reason: AgentFailure, { statusCode, message, url }: APICallError): Failure {
  const status = statusCode === undefined ? '' : `${statusCode} `
  return { kind: 'failure', reason, message: `${status}${message} (${URL.parse(url)?.origin ?? url})` }
}

function isNonsense(error: unknown): error is Error {
  return [
    JSONParseError,
    TypeValidationError,
    EmptyResponseBodyError,
    InvalidResponseDataError,
    NoContentGeneratedError,
  ].some((kind) => kind.isInstance(error))
}

/** The first system error code, such as ECONNRESET, in the chain of causes. */
function errorCode(error: unknown): string | null {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string') return at.code
    // Node tries every address of a host and collects the failures.
    if (at instanceof AggregateError && at.errors.length > 0) return errorCode(at.errors[0])
  }
  return null
}
