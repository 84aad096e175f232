import { join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { entryKind } from './path-kind.ts'

/** Files that git reads at the top of every working tree. */
const readByGit = ['.gitignore', '.gitattributes', '.gitmodules']

/** Refuses a repository where git would block forever, because one of these is not a regular file. */
export function refusePipes(repository: string): void {
  const found = readByGit.find((name) => entryKind(join(repository, name)) === 'other')
  if (found === undefined) return
  throw new GantryError(
    'UNSAFE_PATH',
    `${join(repository, found)} is a pipe, a socket or a device, and git would wait for it`,
    { hint: 'Remove it.' },
  )
}
