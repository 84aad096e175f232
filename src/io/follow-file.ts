import { closeSync, openSync, readSync } from 'node:fs'

export interface FollowedFile {
  /** Reads what is left. For after the last write; throws what a callback threw. */
  finish(): void
}

const lookEveryMs = 20
const chunkBytes = 256 * 1024

/** Hands on what is appended to a file, as it grows. `onError` is called once when the callback throws; after that nothing is passed on. */
export function followFile(
  path: string,
  onChunk: (chunk: Uint8Array) => void,
  onError: (cause: unknown) => void,
): FollowedFile {
  const file = openSync(path, 'r')
  let failure: { readonly cause: unknown } | null = null
  const look = (): void => {
    try {
      while (failure === null) {
        const buffer = Buffer.allocUnsafe(chunkBytes)
        const bytes = readSync(file, buffer, 0, chunkBytes, null)
        if (bytes === 0) return
        onChunk(buffer.subarray(0, bytes))
      }
    } catch (cause) {
      failure = { cause }
      onError(cause)
    }
  }
  const timer = setInterval(look, lookEveryMs)
  return {
    finish() {
      clearInterval(timer)
      look()
      closeSync(file)
      if (failure !== null) throw failure.cause
    },
  }
}
