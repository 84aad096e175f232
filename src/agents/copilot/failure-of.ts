import type { AgentFailure } from '../../core/event.ts'
import { asInteger, asString, type JsonObject } from '../../core/json-fields.ts'
import type { FailureReport } from '../contract.ts'
import { classifyFailure } from '../failure.ts'

/** Copilot's own words for what went wrong; the others say nothing that the message does not. */
const reasons: Readonly<Record<string, AgentFailure>> = {
  authentication: 'auth',
  authorization: 'auth',
  quota: 'rate_limit',
  rate_limit: 'rate_limit',
  context_limit: 'context',
}

/** The data of a `session.error` or of a `model.call_failure`. */
export function failureOf(data: JsonObject): FailureReport {
  const message = asString(data.message) ?? asString(data.errorMessage) ?? 'Copilot reported an error.'
  const reason =
    reasons[asString(data.errorType) ?? ''] ??
    (/prompt budget/i.test(message) ? 'context' : classifyFailure(message, asInteger(data.statusCode)))
  return { reason: reason ?? 'unavailable', message }
}
