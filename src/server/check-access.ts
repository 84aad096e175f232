import { digestSecret, type SecretDigest, sameSecret } from '../io/secret.ts'
import { type ApiProblem, problem } from './answer.ts'

export interface AccessRules {
  readonly token: SecretDigest
  /** As it stands in a `Host` header, in lower case. */
  isOwnHost(host: string): boolean
}

export interface Caller {
  /** Whether anybody may ask this. */
  readonly isOpen: boolean
  header(name: string): string | undefined
}

/**
 * Whether a request is let in; null when it is. The names it uses for us come first: a page of the web that was led to our
 * address by its own name never gets as far as a token.
 */
export function checkAccess(
  { header, isOpen }: Caller,
  { token, isOwnHost }: AccessRules,
): ApiProblem | null {
  const host = header('host')?.toLowerCase()
  if (host === undefined || !isOwnHost(host))
    return problem(
      421,
      'wrong_host',
      'the Host header does not name this server',
      'Use the address that gantry serve printed, or start it with --allow-host NAME.',
    )
  const origin = header('origin')?.toLowerCase()
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`)
    return problem(403, 'foreign_origin', 'requests of other origins are refused', null)
  if (isOpen || isKnown(header('authorization'), token)) return null
  return {
    ...problem(
      401,
      'unauthorized',
      'a bearer token is needed',
      'Send the header Authorization: Bearer TOKEN. Where the token is was printed when the server started.',
    ),
    headers: { 'www-authenticate': 'Bearer realm="gantry"' },
  }
}

function isKnown(authorization: string | undefined, token: SecretDigest): boolean {
  const given = /^bearer ([^\s]+)$/i.exec(authorization ?? '')?.[1]
  // Digests have one length, so that comparing tells nothing of the token's.
  return given !== undefined && sameSecret(digestSecret(given), token)
}

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
