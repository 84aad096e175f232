import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { orElse } from './fs-error.ts'

/** A file name: a string, or bytes when it is not UTF-8. */
export type Path = string | Buffer

/** Entries of one directory in the system's order. Names that are not UTF-8 come as bytes and stay usable. */
export function listDirectory(path: Path): readonly Dirent<Path>[] {
  const entries = readdirSync(path, { withFileTypes: true })
  if (!entries.some(({ name }) => name.includes('\uFFFD'))) return entries
  const inBytes: Dirent<Path>[] = readdirSync(path, { withFileTypes: true, encoding: 'buffer' })
  for (const entry of inBytes) {
    const text = entry.name.toString()
    if (Buffer.from(text).equals(toBytes(entry.name))) entry.name = text
  }
  return inBytes
}

/** The same; empty for a directory that cannot be read or is gone. */
export function listIfReadable(path: Path, list = listDirectory): readonly Dirent<Path>[] {
  try {
    return list(path)
  } catch {
    return []
  }
}

/** Reads each directory once. For several searches through the same directories. */
export function listOnce(): typeof listDirectory {
  const known = new Map<Path, readonly Dirent<Path>[]>()
  return (path) => {
    const entries = known.get(path) ?? listDirectory(path)
    known.set(path, entries)
    return entries
  }
}

export function joinPath(directory: Path, name: Path): Path {
  if (typeof directory === 'string' && typeof name === 'string') return `${directory}/${name}`
  return Buffer.concat([toBytes(directory), Buffer.from('/'), toBytes(name)])
}

/** For messages and keys: bytes that are not UTF-8 are written as `\xNN`, so different names stay different. */
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

/** False for a link to a directory. */
export function isRealDirectory(path: Path): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Names in a directory, up to a limit; null when it is not a directory or not readable. */
export function directoryNames(path: string, most: number) {
  if (path.includes('\0')) return null
  const entries = orElse(null, () => readdirSync(path, { withFileTypes: true }).slice(0, most))
  /** `leaf`: not a directory and not a link to one. */
  return entries?.map((entry) => ({ name: entry.name, leaf: entry.isFile() })) ?? null
}
