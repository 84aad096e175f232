import { closeSync, openSync, writeSync } from 'node:fs'
import { translateFsError } from './fs-error.ts'

/** A file that is written piece by piece, each piece at once: what was written survives the death of the process. */
export interface LogFile {
  write(bytes: Uint8Array): void
  close(): void
}

/** Makes the file. Whatever stands at the path already, a link above all, is an error and is not written to. */
export function createLogFile(path: string): LogFile {
  const fd = translated(path, () => openSync(path, 'wx', 0o644))
  let open = true
  return {
    write: (bytes) =>
      translated(path, () => {
        for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
      }),
    close: () => {
      if (open) closeSync(fd)
      open = false
    },
  }
}

function translated<T>(path: string, act: () => T): T {
  try {
    return act()
  } catch (cause) {
    throw translateFsError(cause, `write ${path}`)
  }
}
