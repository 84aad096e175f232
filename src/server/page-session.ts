import { createHmac } from 'node:crypto'
import type { Clock } from '../io/clock.ts'
import { digestSecret, newSecret, type SecretDigest, sameSecret } from '../io/secret.ts'

/** How a browser signs in: a code that works once and for a minute becomes a cookie that scripts cannot read. */
export interface PageSession {
  newCode(): { readonly code: string; readonly expires_at: string }
  /** The Set-Cookie header for a right code or the token; null for a wrong one. */
  signIn(given: { readonly code: string } | { readonly token: string }): string | null
  isSignedIn(cookies: string | undefined): boolean
}

const codeMs = 60_000
const maxCodes = 100

/**
 * The value of the cookie comes from the token, so that a page stays signed in when the server starts again. Its name has the port,
 * because browsers share cookies between the ports of a host.
 */
export function pageSession(token: string, port: () => number, clock: Clock): PageSession {
  const value = createHmac('sha256', token).update('page of gantry').digest('base64url')
  const cookie = digestSecret(value)
  const known = digestSecret(token)
  const codes = new Map<string, { readonly digest: SecretDigest; readonly until: number }>()
  const name = (): string => `gantry_${port()}`
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
    signIn(given) {
      const isRight = 'code' in given ? takeCode(given.code) : sameSecret(digestSecret(given.token), known)
      return isRight ? `${name()}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=2592000` : null
    },
    isSignedIn: (cookies) =>
      (cookies ?? '').split(';').some((one) => {
        const [key, ...rest] = one.trim().split('=')
        return key === name() && sameSecret(digestSecret(rest.join('=')), cookie)
      }),
  }
}
