import { lchownSync } from 'node:fs'
import { errnoOf, translateFsError } from './fs-error.ts'
import { isRealDirectory, joinPath, listDirectory, type Path } from './list-directory.ts'

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
