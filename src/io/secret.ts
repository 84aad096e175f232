import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 192 random bits, in characters that need no escaping in paths and headers. */
export function newSecret(): string {
  return randomBytes(24).toString('base64url')
}

/** A secret's digest, for comparison. */
export type SecretDigest = Uint8Array

export function digestSecret(secret: string): SecretDigest {
  return createHash('sha256').update(secret).digest()
}

/** Constant-time comparison. */
export function sameSecret(a: SecretDigest, b: SecretDigest): boolean {
  return timingSafeEqual(a, b)
}
