import { closeSync, openSync, readSync } from 'node:fs'
import { allowing } from './fs-error.ts'

/** Position of one line of a file in bytes, without its newline. */
export interface LineSpan {
  readonly offset: number
  readonly length: number
}

export type LineFile = NonNullable<ReturnType<typeof openLines>>

const chunkBytes = 1 << 18

/**
 * A log opened for reading single lines in any order; null when there is no such file. The first `headBytes` of each line are returned
 * with its position, to distinguish lines.
 */
export function openLines(path: string, headBytes: number) {
  const fd = allowing(['ENOENT'], () => openSync(path, 'r'))
  if (fd === undefined) return null
  return {
    /** Every line that ends in a newline; what comes after the last newline is still being written, or torn. */
    spans: () => spansOf(fd, headBytes),
    read: (span: LineSpan): string => readSpan(fd, span).toString('utf8'),
    close: (): void => closeSync(fd),
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
      // A head may continue in the next chunk.
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
