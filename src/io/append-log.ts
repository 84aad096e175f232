import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { GantryError } from '../core/error.ts'
import { errnoOf, translateFsError } from './fs-error.ts'

export type AppendLog = ReturnType<typeof openAppendLog>

/**
 * An append-only log: each call is one `O_APPEND` write of whole lines. Opens it at the first append. Ends a line torn by a killed writer or a full disk first, so it does not corrupt the next line.
 */
export function openAppendLog(path: string) {
  let fd: number | null = null
  let torn = false
  return {
    /** `lines` ends in a newline. They survive the death of the process once this returns. */
    append: (lines: string): void => {
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
          { hint: 'Find out what removed it during the run.', cause },
        )
      }
    },
    close: (): void => {
      if (fd !== null) closeSync(fd)
      fd = null
    },
  }
}

/** Opens the log for these lines only. */
export function appendOnce(path: string, lines: string): void {
  const log = openAppendLog(path)
  try {
    log.append(lines)
  } finally {
    log.close()
  }
}

export function endsInNewline(fd: number): boolean {
  const { size } = fstatSync(fd)
  const last = Buffer.alloc(1)
  return size === 0 || readSync(fd, last, 0, 1, size - 1) === 0 || last[0] === 10
}
