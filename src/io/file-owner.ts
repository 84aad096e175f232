import { chmodSync, chownSync, statSync } from 'node:fs'
import { translateFsError } from './fs-error.ts'

export interface FileOwner {
  readonly uid: number
  readonly gid: number
  /** Permission bits alone. */
  readonly mode: number
}

/** Links are followed. Throws GantryError when there is nothing. */
export function fileOwner(path: string): FileOwner {
  try {
    const { uid, gid, mode } = statSync(path)
    return { uid, gid, mode: mode & 0o777 }
  } catch (cause) {
    throw translateFsError(cause, `look at ${path}`)
  }
}

/** Only root may give things away; for anybody else the owner stays and the permissions change. */
export function giveFile(path: string, { uid, gid, mode }: FileOwner): void {
  try {
    if (process.getuid?.() === 0) chownSync(path, uid, gid)
    chmodSync(path, mode)
  } catch (cause) {
    throw translateFsError(cause, `give ${path} to another user`)
  }
}

/** Which file system it is on, as a number that is the same for all of its files; -1 when there is nothing. */
export function deviceOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.dev ?? -1
}

/** The user and group of this process. */
export function ownUser(): { readonly uid: number; readonly gid: number } {
  return { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 }
}
