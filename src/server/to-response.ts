import type { Answer } from './answer.ts'

/** Nothing here is for a browser's page, a cache or a frame. There are no CORS headers, on purpose. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** Every answer but a stream. */
export function toResponse(answer: Exclude<Answer, { kind: 'stream' }>): Response {
  switch (answer.kind) {
    case 'json':
      return json(answer.status, answer.value)
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
