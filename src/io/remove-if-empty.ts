import { rmdirSync } from 'node:fs'
import { isDone, translated } from './fs-error.ts'

/** Removes an empty directory. False when it is not empty or not a directory. */
export function removeIfEmpty(path: string): boolean {
  // An agent may have put a file or a link in its place.
  const codes = ['ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR']
  return translated(`remove ${path}`, () => isDone(codes, () => rmdirSync(path)))
}
