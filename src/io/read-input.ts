import { fstatSync, read, readFileSync } from 'node:fs'
import { errnoOf } from './fs-error.ts'

/**
 * Reads a descriptor to its end. Does not use `process.stdin`, which is slow to load. Unless all of it is there, a thread waits for the
 * end, and until then only `exitNow` can end this process.
 */
export function readInput(fd: number, maxBytes: number, isThere = false): Promise<Buffer | 'too_large'> {
  if (isThere || fstatSync(fd).isFile()) return Promise.resolve(readFileSync(fd))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let total = 0
    const next = (): void => {
      const chunk = Buffer.allocUnsafe(64 * 1024)
      read(fd, chunk, 0, chunk.length, null, (error, count) => {
        if (error !== null) {
          // A non-blocking descriptor has no data yet.
          if (errnoOf(error) === 'EAGAIN') setTimeout(next, 1)
          else if (errnoOf(error) === 'EOF') resolve(Buffer.concat(chunks))
          else reject(error)
          return
        }
        total += count
        chunks.push(chunk.subarray(0, count))
        if (count === 0) resolve(Buffer.concat(chunks))
        else if (total > maxBytes) resolve('too_large')
        else next()
      })
    }
    next()
  })
}
