import { fstatSync, read, readFileSync } from 'node:fs'
import { errnoOf } from './fs-error.ts'

/**
 * Everything read from a descriptor until it ends. Not by `process.stdin`, which takes longer to load than to read. As long
 * as it does not end a thread waits for it, and only `leaveNow` ends this process.
 */
export function readInput(fd: number, maxBytes: number): Promise<Buffer | 'too_large'> {
  if (fstatSync(fd).isFile()) return Promise.resolve(readFileSync(fd))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let total = 0
    const next = (): void => {
      const chunk = Buffer.allocUnsafe(64 * 1024)
      read(fd, chunk, 0, chunk.length, null, (error, count) => {
        if (error !== null) {
          // A descriptor that does not block says that nothing is there yet.
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
