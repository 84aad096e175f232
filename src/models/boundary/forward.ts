const keyHeaders = ['x-api-key', 'x-goog-api-key', 'authorization']

/** They concern the connection to us, or are made anew. */
const notForwarded = new Set([
  'host',
  'connection',
  'keep-alive',
  'content-length',
  'accept-encoding',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'proxy-authorization',
  'proxy-connection',
])

/** What of an agent's headers goes on to the provider. A key of the agent's own does not travel beside ours. */
export function forwardedHeaders(
  headers: Readonly<Record<string, string>>,
  withoutKeys: boolean,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => !notForwarded.has(name) && !(withoutKeys && keyHeaders.includes(name)),
    ),
  )
}

/** Where a request goes on to; `path` begins with a slash and has its query. */
export function forwardedAddress(baseUrl: string, path: string, withoutKeys: boolean): string {
  const address = baseUrl.replace(/\/+$/, '') + path
  if (!withoutKeys || !URL.canParse(address)) return address
  const url = new URL(address)
  if (!url.searchParams.has('key')) return address
  url.searchParams.delete('key')
  return url.href
}
