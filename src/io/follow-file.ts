import { closeSync, openSync, readSync } from 'node:fs'

const lookEveryMs = 20
const chunkBytes = 256 * 1024

/** Passes on text appended to a file. When the callback throws, `onError` is called once and nothing more is passed on. */
export function followFile(
  path: string,
  onChunk: (chunk: Uint8Array) => void,
  onError: (cause: unknown) => void,
) {
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
    /** Reads the rest after the last write. Throws an error of the callback. */
    finish(): void {
      clearInterval(timer)
      look()
      closeSync(file)
      if (failure !== null) throw failure.cause
    },
  }
}
