import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'

const unpackers = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
} as const

/**
 * A body as it was before `content-encoding`. null when the encoding is unknown, the bytes are not of it, or there would be
 * more than `maxBytes` of them.
 */
export async function unpackBody(
  body: Uint8Array,
  encoding: string,
  maxBytes: number,
): Promise<Uint8Array | null> {
  const name = encoding.trim().toLowerCase()
  if (name === '' || name === 'identity') return body
  if (!isKnown(name)) return null
  try {
    return await unpackers[name](body, { maxOutputLength: maxBytes })
  } catch {
    return null
  }
}

function isKnown(name: string): name is keyof typeof unpackers {
  return Object.hasOwn(unpackers, name)
}
