import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { translateFsError } from './fs-error.ts'

export { readJsonl, readJsonlBatches } from './read-jsonl.ts'

/** An append-only log: one JSON value per line, one `O_APPEND` write per batch, so that writers in other processes never mix lines. */
export interface JsonlWriter {
  /**
   * Keeps the line in memory for the rest of this turn of the event loop at the longest, then hands it to the system: kill -9
   * loses only what was appended in the very turn it struck. Throws when an earlier batch could not be written.
   */
  append(value: unknown): void
  /** Everything appended so far is with the system. */
  flush(): void
  /** Flushes first. Nothing may be appended afterwards; closing twice is fine. */
  close(): void
}

const batchChars = 64 * 1024

/** Makes the file when it is not there. A last line torn by a killed writer is ended, so that it spoils only itself. */
export function openJsonl(path: string): JsonlWriter {
  let fd: number | null = open(path)
  let lines = ''
  /** Bytes the system has not taken yet, after a failure. They come before `lines`. */
  let unwritten: Uint8Array = new Uint8Array()
  let isScheduled = false

  const flush = (): void => {
    if (fd === null || (lines === '' && unwritten.length === 0)) return
    let bytes: Uint8Array = Buffer.from(lines)
    lines = ''
    if (unwritten.length > 0) bytes = Buffer.concat([unwritten, bytes])
    let written = 0
    try {
      while (written < bytes.length) written += writeSync(fd, bytes, written)
    } catch (cause) {
      throw translateFsError(cause, `write ${path}`)
    } finally {
      unwritten = bytes.subarray(written)
    }
  }

  const flushLater = (): void => {
    isScheduled = false
    try {
      flush()
    } catch {
      // The bytes are kept; the next append, flush or close tries again and throws to its caller.
    }
  }

  return {
    append: (value) => {
      if (fd === null) throw new Error(`${path} is closed`)
      if (unwritten.length > 0) flush()
      const line = JSON.stringify(value)
      if (line === undefined) throw new TypeError('a value that JSON cannot hold')
      lines += `${line}\n`
      if (lines.length >= batchChars) flush()
      else if (!isScheduled) {
        isScheduled = true
        setImmediate(flushLater)
      }
    },
    flush,
    close: () => {
      if (fd === null) return
      try {
        flush()
      } finally {
        closeSync(fd)
        fd = null
      }
    },
  }
}

function open(path: string): number {
  let fd: number | null = null
  try {
    fd = openSync(path, 'a+')
    if (!endsWithNewline(fd)) writeSync(fd, '\n')
    return fd
  } catch (cause) {
    if (fd !== null) closeSync(fd)
    throw translateFsError(cause, `open ${path}`)
  }
}

function endsWithNewline(fd: number): boolean {
  const { size } = fstatSync(fd)
  const last = Buffer.alloc(1)
  return size === 0 || readSync(fd, last, 0, 1, size - 1) === 0 || last[0] === 10
}
