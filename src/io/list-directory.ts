import { type Dirent, lstatSync, readdirSync } from 'node:fs'

/** A file name as the system has it: a string, or bytes when it is not UTF-8. */
export type Path = string | Buffer

/** Entries of one directory in the system's order. Names that are not UTF-8 come as bytes and stay usable. */
export function listDirectory(path: Path): readonly Dirent<Path>[] {
  const entries = readdirSync(path, { withFileTypes: true })
  if (!entries.some(({ name }) => name.includes('\uFFFD'))) return entries
  return readdirSync(path, { withFileTypes: true, encoding: 'buffer' })
}

export function joinPath(directory: Path, name: Path): Path {
  if (typeof directory === 'string' && typeof name === 'string') return `${directory}/${name}`
  return Buffer.concat([toBytes(directory), Buffer.from('/'), toBytes(name)])
}

/** For people and for keys: bytes that are no UTF-8 are written as `\xNN`, so that different names stay different. */
export function showPath(path: Path): string {
  if (typeof path === 'string') return path
  const text = path.toString('utf8')
  if (Buffer.from(text).equals(path)) return text
  return path
    .toString('latin1')
    .replaceAll(/[^\x20-\x7e]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

export function toBytes(path: Path): Buffer {
  return typeof path === 'string' ? Buffer.from(path) : path
}

/** A link to a directory is none. */
export function isRealDirectory(path: Path): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

interface NamedEntry {
  readonly name: string
  /** Not a directory and no link to one: there is nothing in it. */
  readonly leaf: boolean
}

/** Names in a directory, at most so many; null when it is none or closed to us. */
export function directoryNames(path: string, most: number): readonly NamedEntry[] | null {
  if (path.includes('\0')) return null
  try {
    return readdirSync(path, { withFileTypes: true })
      .slice(0, most)
      .map((entry) => ({ name: entry.name, leaf: entry.isFile() }))
  } catch {
    return null
  }
}
