import { digestSecret, type SecretDigest, sameSecret } from '../io/secret.ts'
import { type ApiProblem, problem } from './answer.ts'

export interface AccessRules {
  readonly token: SecretDigest
  /** A `Host` header in lower case. */
  isOwnHost(host: string): boolean
  /** Whether the cookies are those of a browser that has signed in. */
  isSignedIn(cookies: string | undefined): boolean
}

export interface Caller {
  readonly isOpen: boolean
  readonly method: string
  header(name: string): string | undefined
}

/**
 * Why a request is refused; null when it is allowed. Checks the host first, so a web page that points its own name at our address
 * (DNS rebinding) is refused before the token is read.
 */
export function checkAccess(
  { header, isOpen, method }: Caller,
  { token, isOwnHost, isSignedIn }: AccessRules,
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
    return problem(403, 'foreign_origin', 'requests from other origins are refused', null)
  if (isOpen || isKnown(header('authorization'), token)) return null
  if (isSignedIn(header('cookie'))) {
    if (method === 'GET' || method === 'HEAD' || header(pageHeader) !== undefined) return null
    return problem(403, 'not_from_the_page', `a change needs the header ${pageHeader}`)
  }
  return {
    ...problem(
      401,
      'unauthorized',
      'a bearer token is required',
      'Send the header Authorization: Bearer TOKEN. gantry serve printed where to find the token.',
    ),
    headers: { 'www-authenticate': 'Bearer realm="gantry"' },
  }
}

/** The page sends it with every change. A form of another site cannot. */
const pageHeader = 'x-gantry-page'

function isKnown(authorization: string | undefined, token: SecretDigest): boolean {
  const given = /^bearer ([^\s]+)$/i.exec(authorization ?? '')?.[1]
  // Digests have a fixed length, so the comparison does not reveal the token's.
  return given !== undefined && sameSecret(digestSecret(given), token)
}

/** Whether a `Host` header names this server: its address or `localhost` with its port, or an allowed name. */
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

/** The host in URL notation. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host.toLowerCase()
}
