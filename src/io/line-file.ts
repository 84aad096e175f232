import { closeSync, openSync, readSync } from 'node:fs'

/** Where one line of a file lies, in bytes, without its newline. */
export interface LineSpan {
  readonly offset: number
  readonly length: number
}

/** A log opened for reading single lines again, in any order. */
export interface LineFile {
  /** Every line that ends in a newline; what comes after the last newline is still being written, or torn. */
  spans(): Generator<LineSpan & { readonly head: string }>
  read(span: LineSpan): string
  close(): void
}

const chunkBytes = 1 << 18

/** null when there is no such file. `headBytes` of each line are handed out with its place: enough to tell lines apart. */
export function openLines(path: string, headBytes: number): LineFile | null {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw cause
  }
  return {
    spans: () => spansOf(fd, headBytes),
    read: (span) => readSpan(fd, span).toString('utf8'),
    close: () => closeSync(fd),
  }
}

function* spansOf(fd: number, headBytes: number): Generator<LineSpan & { readonly head: string }> {
  const chunk = Buffer.allocUnsafe(chunkBytes)
  let lineStart = 0
  let head = ''
  for (let position = 0; ; ) {
    const count = readSync(fd, chunk, 0, chunkBytes, position)
    if (count === 0) return
    let from = 0
    while (from < count) {
      const newline = chunk.subarray(0, count).indexOf(10, from)
      const end = newline === -1 ? count : newline
      // A head may begin in one chunk and go on in the next.
      if (head.length < headBytes)
        head += chunk.toString('latin1', from, Math.min(end, from + headBytes - head.length))
      if (newline === -1) break
      yield { offset: lineStart, length: position + newline - lineStart, head }
      lineStart = position + newline + 1
      from = newline + 1
      head = ''
    }
    position += count
  }
}

function readSpan(fd: number, { offset, length }: LineSpan): Buffer {
  const buffer = Buffer.allocUnsafe(length)
  let done = 0
  while (done < length) {
    const count = readSync(fd, buffer, done, length - done, offset + done)
    if (count === 0) break
    done += count
  }
  return buffer.subarray(0, done)
}
