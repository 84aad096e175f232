/** Whether a `Host` header means this server: its address or `localhost` with its port, or a name that was allowed. */
export function ownHosts(
  { host, port }: { readonly host: string; readonly port: number },
  allowed: readonly string[],
): (header: string) => boolean {
  const names = new Set([bracketed(host), ...(isLoopback(host) ? ['localhost', '127.0.0.1', '[::1]'] : [])])
  const own = new Set([...names].flatMap((name) => [`${name}:${port}`, ...(port === 80 ? [name] : [])]))
  const others = allowed.map((name) => name.toLowerCase())
  return (header) =>
    own.has(header) || others.includes(header) || others.includes(header.replace(/:\d{1,5}$/, ''))
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}

/** As a host stands in a URL. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host.toLowerCase()
}
