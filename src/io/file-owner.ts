import { chmodSync, chownSync, lchownSync, lstatSync, statSync } from 'node:fs'
import { allowing, translated } from './fs-error.ts'
import { isRealDirectory, joinPath, listDirectory, type Path } from './list-directory.ts'

export interface FileOwner {
  readonly uid: number
  readonly gid: number
  /** Permission bits alone. */
  readonly mode: number
}

/** Links are followed. Throws GantryError when there is nothing. */
export function fileOwner(path: string): FileOwner {
  const { uid, gid, mode } = translated(`look at ${path}`, () => statSync(path))
  return { uid, gid, mode: mode & 0o777 }
}

/** Only root can change the owner. For other users only the permissions change. */
export function setFileOwner(path: string, { uid, gid, mode }: FileOwner): void {
  translated(`give ${path} to another user`, () => {
    if (process.getuid?.() === 0) chownSync(path, uid, gid)
    chmodSync(path, mode)
  })
}

/** The device number of its file system; -1 when there is nothing. */
export function deviceOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.dev ?? -1
}

export function ownUser(): { readonly uid: number; readonly gid: number } {
  return { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 }
}

/** Changes the owner of a directory and its content. Does not follow links. Needs root. */
export function setTreeOwner(path: string, uid: number, gid: number): void {
  translated(`give ${path} to another user`, () => give(path, uid, gid))
}

function give(path: Path, uid: number, gid: number): void {
  // It may be removed meanwhile.
  allowing(['ENOENT'], () => lchownSync(path, uid, gid))
  if (!isRealDirectory(path)) return
  for (const { name } of listDirectory(path)) give(joinPath(path, name), uid, gid)
}

const setIds = 0o6000

/**
 * Removes setuid and setgid from every program below a directory. Does not follow links. Only for directories that no process writes
 * to, because a name could be replaced between the check and the change.
 */
export function stripSetuid(directory: string): void {
  translated(`go through ${directory}`, () => strip(directory))
}

function strip(directory: Path): void {
  // What is too deep for a path cannot be run by one either. A directory closed by its owner cannot be read without root, and then no other user can reach its content either.
  for (const entry of allowing(['EACCES', 'ENOENT', 'ENAMETOOLONG'], () => listDirectory(directory)) ?? []) {
    const path = joinPath(directory, entry.name)
    if (entry.isDirectory()) strip(path)
    if (!entry.isFile()) continue
    const mode = allowing(['ENAMETOOLONG'], () => lstatSync(path))?.mode ?? 0
    if ((mode & setIds) !== 0) chmodSync(path, mode & 0o777)
  }
}
