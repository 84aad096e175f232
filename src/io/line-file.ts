import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { allowing } from './fs-error.ts'
import { isEndless } from './path-kind.ts'

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
  const fd = openLog(path)
  if (fd === null) return null
  return {
    /** Every line that ends in a newline; what comes after the last newline is still being written, or torn. */
    spans: () => spansOf(fd, headBytes),
    read: (span: LineSpan): string => readSpan(fd, span).toString('utf8'),
    close: (): void => closeSync(fd),
  }
}

/** null when there is no such file, also for a pipe or a device, which would block. */
function openLog(path: string): number | null {
  return isEndless(path) ? null : (allowing(['ENOENT'], () => openSync(path, 'r')) ?? null)
}

function* spansOf(fd: number, headBytes: number, start = 0): Generator<LineSpan & { readonly head: string }> {
  const chunk = Buffer.allocUnsafe(chunkBytes)
  let lineStart = start
  let head = ''
  for (let position = start; ; ) {
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

/** The bytes of a part of an open file; fewer where it ends earlier. */
export function readSpan(fd: number, { offset, length }: LineSpan): Buffer {
  const buffer = Buffer.allocUnsafe(length)
  let done = 0
  while (done < length) {
    const count = readSync(fd, buffer, done, length - done, offset + done)
    if (count === 0) break
    done += count
  }
  return buffer.subarray(0, done)
}

export interface LinePage {
  readonly lines: readonly PagedLine[]
  /** Where the next line begins. */
  readonly next: number
  /** Size of the file. */
  readonly bytes: number
}

export interface PagedLine extends LineSpan {
  /** The line; only its beginning when it is longer than the limit. */
  readonly text: string
  readonly isCut: boolean
}

export interface LinePageQuery {
  /** Beginning of a line. */
  readonly from: number
  readonly maxLines: number
  /** No further line is taken after so many bytes. */
  readonly maxBytes: number
  readonly maxLineBytes: number
}

/** Whole lines of a log from a position on; null when there is no such file. Reads no more than it returns, and the rest of a very long line. */
export function readLinesFrom(path: string, query: LinePageQuery): LinePage | null {
  const { from, maxLines, maxBytes, maxLineBytes } = query
  const fd = openLog(path)
  if (fd === null) return null
  try {
    const bytes = fstatSync(fd).size
    const lines: PagedLine[] = []
    let next = from
    for (const { offset, length } of spansOf(fd, 0, from)) {
      const text = readSpan(fd, { offset, length: Math.min(length, maxLineBytes) }).toString('utf8')
      lines.push({ offset, length, text, isCut: length > maxLineBytes })
      next = offset + length + 1
      if (lines.length >= maxLines || next - from >= maxBytes) break
    }
    return { lines, next, bytes }
  } finally {
    closeSync(fd)
  }
}

/** Beginning of the line that is at most `distance` bytes before `position`, itself the beginning of a line. */
export function lineBefore(path: string, position: number, distance: number): number {
  const from = Math.max(0, position - distance)
  if (from === 0) return 0
  const fd = openLog(path)
  if (fd === null) return 0
  try {
    // The first line begins in the middle, unless it is the only one.
    for (const { offset, length } of spansOf(fd, 0, from)) {
      const next = offset + length + 1
      if (next < position) return next
      return from < distance ? 0 : lineBefore(path, position, distance * 4)
    }
    return 0
  } finally {
    closeSync(fd)
  }
}
