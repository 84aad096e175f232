import { createHmac } from 'node:crypto'
import type { Clock } from '../io/clock.ts'
import { peerUser } from '../io/peer-user.ts'
import { digestSecret, newSecret, type SecretDigest, sameSecret } from '../io/secret.ts'

export type PageSession = ReturnType<typeof pageSession>

/** Who is at the other end of a connection, and who runs the server. */
interface UserLookup {
  readonly userOf?: typeof peerUser
  readonly ownUser?: number | undefined
}

const codeMs = 60_000
const maxCodes = 100

/**
 * How a browser signs in: a code that works once and for a minute becomes a cookie that scripts cannot read.
 *
 * The value of the cookie comes from the token, so that a page stays signed in when the server starts again. Browsers send the cookies
 * of a host to all its ports: so its name has the port, and its value opens only the server on this host and port.
 */
export function pageSession(
  token: string,
  place: () => { readonly host: string; readonly port: number },
  clock: Clock,
  { userOf = peerUser, ownUser = process.getuid?.() }: UserLookup = {},
) {
  const known = digestSecret(token)
  const codes = new Map<string, { readonly digest: SecretDigest; readonly until: number }>()
  const name = (): string => `gantry_${place().port}`
  const value = (): string => {
    const { host, port } = place()
    return keyed(token, `page of gantry\n${host}\n${port}`)
  }
  /** Every user of the machine sees the code in the command line of the program that opens the browser. */
  const isOtherUser = (peerPort: number | undefined): boolean => {
    const user = peerPort === undefined ? null : userOf(peerPort, place().port)
    // Root may read everything, and forwards connections for others. Who started a server as root is not known.
    return user !== null && user !== 0 && ownUser !== 0 && user !== ownUser
  }
  const takeCode = (code: string): boolean => {
    const digest = digestSecret(code)
    const now = clock.now().getTime()
    for (const [key, one] of codes) {
      if (one.until < now) codes.delete(key)
      else if (sameSecret(one.digest, digest)) return codes.delete(key)
    }
    return false
  }
  return {
    newCode() {
      const code = newSecret()
      const until = clock.now().getTime() + codeMs
      codes.set(code, { digest: digestSecret(code), until })
      for (const oldest of [...codes.keys()].slice(0, -maxCodes)) codes.delete(oldest)
      return { code, expires_at: new Date(until).toISOString() }
    },
    /** The Set-Cookie header for a right code or the token; null for a wrong one. */
    signIn(
      given: { readonly code: string } | { readonly token: string },
      peerPort?: number | undefined,
    ): string | null {
      const isRight =
        'code' in given
          ? !isOtherUser(peerPort) && takeCode(given.code)
          : sameSecret(digestSecret(given.token), known)
      return isRight ? `${name()}=${value()}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000` : null
    },
    isSignedIn: (cookies: string | undefined): boolean =>
      (cookies ?? '').split(';').some((one) => {
        const [key, ...rest] = one.trim().split('=')
        return key === name() && sameSecret(digestSecret(rest.join('=')), digestSecret(value()))
      }),
    /** What only a server with this token on this port can answer. */
    proof: (nonce: string): string => sessionProof(token, place().port, nonce),
  }
}

/** Shows who knows the token, without the token. It has the port, so that no server can pass on the answer of another one. */
export function sessionProof(token: string, port: number, nonce: string): string {
  return keyed(token, `gantry proof\n${port}\n${nonce}`)
}

function keyed(token: string, text: string): string {
  return createHmac('sha256', token).update(text).digest('base64url')
}
