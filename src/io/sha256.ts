import { createHash, createHmac, hash } from 'node:crypto'
import { hex, hmacSha256, sha256Bytes } from '../core/sha256.ts'

/** Hashing by hand is quicker than loading node:crypto, which waits for its first use: for short texts, as long as they are few. */
const shortLength = 4096
const shortLengthOfAll = 32_768
let hashedLength = 0

/** In hexadecimal; text is hashed as UTF-8. */
export function sha256(content: string | Uint8Array): string {
  hashedLength += content.length
  if (content.length > shortLength || hashedLength > shortLengthOfAll) return hash('sha256', content)
  return hex(sha256Bytes(typeof content === 'string' ? Buffer.from(content) : content))
}

/** Of all parts, one after the other. */
export function sha256OfParts(parts: readonly Uint8Array[]): string {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length <= shortLength) return hex(sha256Bytes(...parts))
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

/** Past this loading node:crypto, where that is put off until it is needed, pays for itself. */
const shortHmacLength = 96 * 1024

export function hmac(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length <= shortHmacLength) return hmacSha256(key, ...parts)
  const mac = createHmac('sha256', key)
  for (const part of parts) mac.update(part)
  return mac.digest()
}

/** The id that git gives to a content: the SHA-1 of its length and its bytes. */
export function gitBlobId(content: Uint8Array): Uint8Array {
  return hash('sha1', Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]), 'buffer')
}
