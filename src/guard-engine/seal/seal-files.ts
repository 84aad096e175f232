import { basename, dirname, join } from 'node:path'
import { contentHash, fileHash } from '../../io/content-hash.ts'
import { listFiles, readTextInside } from '../../io/files.ts'
import { pathKind } from '../../io/path-kind.ts'
import { realPath } from '../../io/real-path.ts'
import { steeringContent } from './steering-content.ts'

/** Own files as they are now, for a `sealed` note: a hash by path, null for what is not there and must not appear. */
export async function sealFiles(paths: readonly string[]): Promise<Readonly<Record<string, string | null>>> {
  return Object.fromEntries(paths.map((path) => [path, sealOf(path)]))
}

/** Changes when what steers hooks in this file, or in any file of this directory, does. */
export function sealOf(path: string): string | null {
  const kind = pathKind(path)
  if (kind === null) return null
  if (kind === 'directory') return sealOfDirectory(path)
  // A device or a FIFO in the place of a file is never read, only told apart.
  return kind === 'file' ? sealOfFile(path) : 'no file'
}

function sealOfDirectory(directory: string): string {
  const names = listFiles(directory, { exclude: (name) => name.startsWith('.git/') || name === '.git' })
  return contentHash(names.flatMap((name) => [name, sealOf(join(directory, name)) ?? 'missing']))
}

function sealOfFile(path: string): string | null {
  const real = realPath(path)
  const read = readTextInside(dirname(real), basename(real))
  if (read.kind !== 'text') return fileHash(real) ?? 'unreadable'
  const steering = steeringContent(path, read.text)
  return steering === null ? null : contentHash([steering])
}
