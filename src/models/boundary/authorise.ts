/** A request that may contain a session token. */
export interface TokenRequest {
  /** With its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

export const keyHeaders: readonly string[] = ['x-api-key', 'x-goog-api-key', 'authorization']

/**
 * The session of a request, found by the token in the first path segment or in the place of a key, and the request
 * without the token. Any other key is the agent's own and stays. null when no session has the token.
 */
export function authorise<S>(knock: TokenRequest, find: (token: string) => S | null) {
  const [, segment = '', rest = ''] = /^\/([^/?]*)(.*)$/s.exec(knock.path) ?? []
  const inPath = segment === '' ? null : find(segment)
  if (inPath !== null) {
    const path = rest.startsWith('/') ? rest : `/${rest}`
    return { session: inPath, request: without({ path, headers: knock.headers }, segment) }
  }
  for (const token of keysOf(knock)) {
    const session = find(token)
    if (session !== null) return { session, request: without(knock, token) }
  }
  return null
}

function keysOf({ path, headers }: TokenRequest): string[] {
  const inHeaders = keyHeaders.map((name) => bare(headers[name]))
  return [...inHeaders, queryOf(path).get('key') ?? ''].filter((key) => key !== '')
}

/** The key in a header value: the part after `Bearer`, or all of it. */
function bare(value: string | undefined): string {
  return (value ?? '').replace(/^bearer\s+/i, '').trim()
}

function without({ path, headers }: TokenRequest, token: string): TokenRequest {
  const kept = Object.entries(headers).filter(
    ([name, value]) => !keyHeaders.some((key) => key === name && bare(value) === token),
  )
  return { path: withoutKey(path, token), headers: Object.fromEntries(kept) }
}

function withoutKey(path: string, token: string): string {
  const query = queryOf(path)
  if (query.get('key') !== token) return path
  query.delete('key')
  const rest = query.toString()
  return `${pathOnly(path)}${rest === '' ? '' : `?${rest}`}`
}

function queryOf(path: string): URLSearchParams {
  const mark = path.indexOf('?')
  return new URLSearchParams(mark === -1 ? '' : path.slice(mark + 1))
}

export function pathOnly(path: string): string {
  const mark = path.indexOf('?')
  return mark === -1 ? path : path.slice(0, mark)
}
