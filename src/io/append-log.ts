import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { GantryError } from '../core/error.ts'
import { errnoOf, translateFsError } from './fs-error.ts'

/** A log that text is appended to, whole lines at a time, each call one `O_APPEND` write. */
export interface AppendLog {
  /** `lines` ends in a newline. When this returns, they survive the death of the process. */
  append(lines: string): void
  close(): void
}

/**
 * Opens the log at the first append. A line that was torn by a killed writer or a full disk is ended first, so that it
 * spoils itself and never the line after it.
 */
export function openAppendLog(path: string): AppendLog {
  let fd: number | null = null
  let torn = false
  return {
    append: (lines) => {
      try {
        if (fd === null) {
          fd = openSync(path, 'a+')
          torn = !endsInNewline(fd)
        }
        const bytes = Buffer.from(torn ? `\n${lines}` : lines)
        torn = true
        let written = 0
        while (written < bytes.length) written += writeSync(fd, bytes, written)
        torn = false
      } catch (cause) {
        if (errnoOf(cause) !== 'ENOENT') throw translateFsError(cause, `append to ${path}`)
        throw new GantryError(
          'NOT_WRITABLE',
          `cannot append to ${path}: its directory is not there any more`,
          {
            hint: 'See what removed it while the run was going on.',
            cause,
          },
        )
      }
    },
    close: () => {
      if (fd !== null) closeSync(fd)
      fd = null
    },
  }
}

function endsInNewline(fd: number): boolean {
  const { size } = fstatSync(fd)
  if (size === 0) return true
  const last = Buffer.alloc(1)
  readSync(fd, last, 0, 1, size - 1)
  return last[0] === 10
}
