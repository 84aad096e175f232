import { closeSync, openSync, writeSync } from 'node:fs'
import { endsInNewline } from './append-log.ts'
import { translateFsError } from './fs-error.ts'

export { readJsonl, readJsonlBatches } from './read-jsonl.ts'

export type JsonlWriter = ReturnType<typeof openJsonl>

const batchChars = 64 * 1024

/**
 * An append-only log: one JSON value per line, one `O_APPEND` write per batch, so processes never mix lines. Creates the file if needed.
 * Ends a last line torn by a killed writer, so it does not corrupt the next.
 */
export function openJsonl(path: string) {
  let fd: number | null = open(path)
  let lines = ''
  /** Bytes not yet written after a failure. They come before `lines`. */
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
      // Keep the bytes. The next append, flush or close tries again and throws to its caller.
    }
  }

  return {
    /**
     * Buffers the line at most until the end of this turn of the event loop, so kill -9 loses only lines of the current turn. Throws when
     * an earlier batch cannot be written; the line is kept for the next attempt.
     */
    append: (value: unknown): void => {
      if (fd === null) throw new Error(`${path} is closed`)
      const line = JSON.stringify(value)
      if (line === undefined) throw new TypeError('a value that JSON cannot hold')
      lines += `${line}\n`
      if (unwritten.length > 0 || lines.length >= batchChars) flush()
      else if (!isScheduled) {
        isScheduled = true
        setImmediate(flushLater)
      }
    },
    flush,
    /** Flushes first. Nothing may be appended afterwards; closing twice is fine. */
    close: (): void => {
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
    if (!endsInNewline(fd)) writeSync(fd, '\n')
    return fd
  } catch (cause) {
    if (fd !== null) closeSync(fd)
    throw translateFsError(cause, `open ${path}`)
  }
}
