import { closeSync, createReadStream, openSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** An append-only log: one JSON value per line, one `O_APPEND` write per batch, so that writers in other processes never mix lines. */
export interface JsonlWriter {
  append(value: unknown): void
  /** Everything appended so far is with the system. */
  flush(): void
  close(): void
}

export function openJsonl(path: string): JsonlWriter {
  const fd = openSync(path, 'a')
  return {
    append: (value) => void writeSync(fd, `${JSON.stringify(value)}\n`),
    flush: () => {},
    close: () => closeSync(fd),
  }
}

/** Values in order. A torn last line (the writer was killed) is passed over; a damaged line in the middle is reported to `onBad`. */
export async function* readJsonl<T>(
  path: string,
  onBad?: (line: string, lineNumber: number) => void,
): AsyncGenerator<T> {
  let number = 0
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Infinity })) {
    number += 1
    if (line === '') continue
    let value: T
    try {
      value = JSON.parse(line)
    } catch {
      onBad?.(line, number)
      continue
    }
    yield value
  }
}
