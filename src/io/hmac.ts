import { createHmac } from 'node:crypto'
import { hmacSha256 } from '../core/sha256.ts'

/** Past this loading node:crypto, where that is put off until it is needed, pays for itself. */
const shortLength = 96 * 1024

/** HMAC with SHA-256. */
export function hmac(key: Uint8Array, ...parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  if (length <= shortLength) return hmacSha256(key, ...parts)
  const mac = createHmac('sha256', key)
  for (const part of parts) mac.update(part)
  return mac.digest()
}
