import type { AgentFailure } from '../core/event.ts'

/**
 * Why the model of an agent could not be used, by the HTTP status when the agent reports one, else by its message. null
 * when nothing indicates an infrastructure failure: then it counts against the agent.
 */
export function classifyFailure(text: string, status?: number): AgentFailure | null {
  return wordings.find(([pattern]) => pattern.test(text))?.[1] ?? byStatus(status ?? statusIn(text))
}

const wordings: readonly (readonly [RegExp, AgentFailure])[] = [
  [
    /prompt is too long|context[ _-]?(window|length)|input is too long|prompt budget|too many tokens|ran out of room/i,
    'context',
  ],
  [/overloaded|at capacity|high demand/i, 'overloaded'],
  [/rate.?limit|usage limit|session limit|weekly limit|quota|too many requests/i, 'rate_limit'],
  [
    /(invalid|incorrect) (x-)?api.?key|authenticat|unauthori[sz]ed|please run \/login|not logged in|credit balance|billing|oauth token/i,
    'auth',
  ],
  [/usage polic|content polic|safety polic|flagged|refusal|refused to/i, 'refused'],
  [/timed? ?out|etimedout|deadline exceeded/i, 'timeout'],
  [/invalid.?request|malformed|unexpected token|invalid json/i, 'malformed'],
  [
    /connection (error|refused|reset)|econnrefused|econnreset|enotfound|unable to connect|stream disconnected|server.?error|service unavailable|bad gateway|network error|error sending request|enospc|no space left on device/i,
    'unavailable',
  ],
]

function statusIn(text: string): number | undefined {
  const found = /(?:status|http|error|code)\D{0,12}([45]\d\d)\b/i.exec(text)
  return found === null ? undefined : Number(found[1])
}

function byStatus(status: number | undefined): AgentFailure | null {
  if (status === undefined || status < 400 || status > 599) return null
  if (status === 401 || status === 402 || status === 403) return 'auth'
  if (status === 408 || status === 504) return 'timeout'
  if (status === 413) return 'context'
  if (status === 429) return 'rate_limit'
  if (status === 503 || status === 529) return 'overloaded'
  if (status === 404 || status >= 500) return 'unavailable'
  return 'malformed'
}
