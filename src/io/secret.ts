import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 192 random bits, in letters that stand in a path and in a header as they are. */
export function newSecret(): string {
  return randomBytes(24).toString('base64url')
}

/** A secret as it is kept for comparing. */
export type SecretDigest = Uint8Array

export function digestSecret(secret: string): SecretDigest {
  return createHash('sha256').update(secret).digest()
}

/** Takes as long for a wrong secret as for the right one. */
export function sameSecret(a: SecretDigest, b: SecretDigest): boolean {
  return timingSafeEqual(a, b)
}
