import { chmodSync, chownSync, lchownSync, lstatSync, statSync } from 'node:fs'
import { errnoOf, translateFsError } from './fs-error.ts'
import { isRealDirectory, joinPath, listDirectory, type Path } from './list-directory.ts'

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

/** Only root may give things away; for other users the owner stays and the permissions change. */
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

/** Gives a directory and all that is in it to a user. Links are given themselves, never what they lead to. Only root can. */
export function giveTree(path: string, uid: number, gid: number): void {
  try {
    give(path, uid, gid)
  } catch (cause) {
    throw translateFsError(cause, `give ${path} to another user`)
  }
}

function give(path: Path, uid: number, gid: number): void {
  try {
    lchownSync(path, uid, gid)
  } catch (cause) {
    // It was there a moment ago.
    if (errnoOf(cause) !== 'ENOENT') throw cause
    return
  }
  if (!isRealDirectory(path)) return
  for (const { name } of listDirectory(path)) give(joinPath(path, name), uid, gid)
}

const setIds = 0o6000

/**
 * Takes the power to run as its owner or group from every program below a directory. Links are not followed. For places nobody
 * writes to any more: between the look and the change a name could come to mean something else.
 */
export function stripSetuid(directory: string): void {
  try {
    strip(directory)
  } catch (cause) {
    throw translateFsError(cause, `go through ${directory}`)
  }
}

function strip(directory: Path): void {
  for (const entry of entriesOf(directory)) {
    const path = joinPath(directory, entry.name)
    if (entry.isDirectory()) strip(path)
    if (!entry.isFile()) continue
    const { mode } = lstatSync(path)
    if ((mode & setIds) !== 0) chmodSync(path, mode & 0o777)
  }
}

/** What its owner has closed is closed to us as well, unless we are root; then nobody else can reach what is in it either. */
function entriesOf(directory: Path) {
  try {
    return listDirectory(directory)
  } catch (cause) {
    if (['EACCES', 'ENOENT'].includes(errnoOf(cause) ?? '')) return []
    throw cause
  }
}
