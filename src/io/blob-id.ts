import { isAscii } from 'node:buffer'
import { createHash, hash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import type { Path } from './list-directory.ts'

export type BlobAlgorithm = 'sha1' | 'sha256'

const headerRoom = 64
const chunkBytes = 256 * 1024
const room = Buffer.allocUnsafeSlow(headerRoom + chunkBytes)
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** The id of a regular file's bytes on disk, without filters or line end conversion. */
export function fileBlobId(path: Path, algorithm: BlobAlgorithm = 'sha1'): string {
  return fileBlob(path, algorithm).id
}

export function fileBlob(path: Path, algorithm: BlobAlgorithm = 'sha1') {
  const fd = openSync(path, flags)
  try {
    const count = readSync(fd, room, headerRoom, chunkBytes, null)
    if (count === chunkBytes) return { id: largeBlobId(fd, algorithm), mayBeNormalised: true }
    // Header and content in one buffer: one one-shot hash is much cheaper than an object per file.
    const header = `blob ${count}\0`
    room.write(header, headerRoom - header.length, 'latin1')
    const content = room.subarray(headerRoom, headerRoom + count)
    const id = hash(algorithm, room.subarray(headerRoom - header.length, headerRoom + count), 'hex')
    // Git may store another form of it: line ends, a keyword or an encoding. false when no attribute can cause that.
    return { id, mayBeNormalised: !isAscii(content) || content.includes('\r') || content.includes('$Id') }
  } finally {
    closeSync(fd)
  }
}

/** The id of a link's target. */
export function linkBlobId(path: Path, algorithm: BlobAlgorithm = 'sha1'): string {
  return blobId(readlinkSync(path, { encoding: 'buffer' }), algorithm)
}

/** The id git gives to this content: a hash over its length and its bytes. */
export function blobId(content: Uint8Array, algorithm: BlobAlgorithm = 'sha1'): string {
  return createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest('hex')
}

function largeBlobId(fd: number, algorithm: BlobAlgorithm): string {
  const { size } = fstatSync(fd)
  const whole = createHash(algorithm).update(`blob ${size}\0`)
  for (let at = 0; at < size; ) {
    const count = readSync(fd, room, 0, Math.min(chunkBytes, size - at), at)
    if (count === 0) break
    whole.update(room.subarray(0, count))
    at += count
  }
  return whole.digest('hex')
}
