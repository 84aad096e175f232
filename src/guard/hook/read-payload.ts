import { isUtf8 } from 'node:buffer'
import { GantryError } from '../../core/error.ts'

/** The one JSON value of a payload. Bytes that are no text are not guessed at: a path among them would be another path. */
export function readPayload(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw new GantryError('INVALID_FILE', 'the agent told its hook nothing')
  if (!isUtf8(bytes)) throw new GantryError('INVALID_FILE', 'the payload is not UTF-8 text')
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch (cause) {
    throw new GantryError('INVALID_FILE', 'the payload is not one JSON value', { cause })
  }
}
