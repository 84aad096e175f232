import { closeSync, openSync, writeFileSync } from 'node:fs'
import { translated } from './fs-error.ts'

export type LogFile = ReturnType<typeof createLogFile>

/** A new file written piece by piece without buffering, so the content survives the death of the process. Throws when the path exists, also as a link. */
export function createLogFile(path: string) {
  const fd = translated(`write ${path}`, () => openSync(path, 'wx', 0o644))
  let open = true
  return {
    write: (bytes: Uint8Array): void => translated(`write ${path}`, () => writeFileSync(fd, bytes)),
    close: (): void => {
      if (open) closeSync(fd)
      open = false
    },
  }
}
