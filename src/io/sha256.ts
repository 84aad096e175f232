import { createHash } from 'node:crypto'
import { hex, sha256Bytes } from '../core/sha256.ts'

/** Up to here hashing by hand is quicker than loading node:crypto, where that is put off until it is needed. */
const shortLength = 4096

/** In hexadecimal; text is hashed as UTF-8. */
export function sha256(content: string | Uint8Array): string {
  if (content.length > shortLength) return createHash('sha256').update(content).digest('hex')
  return hex(sha256Bytes(typeof content === 'string' ? Buffer.from(content) : content))
}
