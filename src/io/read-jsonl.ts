import { type FileHandle, open } from 'node:fs/promises'

/** Called for a line that is not JSON. Lines count from 1. */
export type OnBadLine = (line: string, lineNumber: number) => void

/** Values in order. Skips a torn last line of a killed writer, but reads a complete one without newline. Other damaged lines are reported to `onBad`. */
export async function* readJsonl<T>(path: string, onBad?: OnBadLine): AsyncGenerator<T> {
  for await (const batch of readJsonlBatches<T>(path, onBad)) yield* batch
}

/** The same in batches, for large logs, where one step per value costs more than parsing it. */
export async function* readJsonlBatches<T>(path: string, onBad?: OnBadLine): AsyncGenerator<T[]> {
  const file = await open(path, 'r')
  try {
    let lineNumber = 1
    for await (const { text, isLast } of wholeLines(file)) {
      const values: T[] = []
      lineNumber = parseLines(text, lineNumber, isLast, values, onBad)
      if (values.length > 0) yield values
    }
  } finally {
    await file.close()
  }
}

const chunkBytes = 256 * 1024
const newline = 10

/** The file as pieces of text that end with a line; the last one may not, and is then marked. */
async function* wholeLines(file: FileHandle): AsyncGenerator<{ text: string; isLast: boolean }> {
  let buffer = Buffer.allocUnsafe(chunkBytes)
  let filled = 0
  for (;;) {
    if (filled === buffer.length) {
      const larger = Buffer.allocUnsafe(buffer.length * 2)
      buffer.copy(larger)
      buffer = larger
    }
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled)
    if (bytesRead === 0) break
    // Search only the new chunk for a newline.
    const end = buffer.subarray(filled, filled + bytesRead).lastIndexOf(newline)
    const lineEnd = end === -1 ? 0 : filled + end + 1
    filled += bytesRead
    if (lineEnd === 0) continue
    yield { text: buffer.toString('utf8', 0, lineEnd), isLast: false }
    buffer.copyWithin(0, lineEnd, filled)
    filled -= lineEnd
  }
  if (filled > 0) yield { text: buffer.toString('utf8', 0, filled), isLast: true }
}

function parseLines<T>(
  text: string,
  firstNumber: number,
  isTorn: boolean,
  into: T[],
  onBad: OnBadLine | undefined,
): number {
  let number = firstNumber
  for (let start = 0; start < text.length; number++) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found
    const line = text.slice(start, text.charCodeAt(end - 1) === 13 ? end - 1 : end)
    start = end + 1
    if (line === '') continue
    try {
      const value = JSON.parse(line)
      // The beginning of an object is never JSON, but `12` may be the beginning of `123`.
      if (!isTorn || typeof value === 'object') into.push(value)
    } catch {
      if (!isTorn) onBad?.(line, number)
    }
  }
  return number
}
