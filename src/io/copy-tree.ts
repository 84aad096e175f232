import fs from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { GantryError } from '../core/error.ts'
import { makeDirectories } from './directory.ts'
import { errnoOf, translated, translateFsError } from './fs-error.ts'
import { isRealDirectory, joinPath, listDirectory, type Path, showPath } from './list-directory.ts'
import { resolveInside } from './resolve-inside.ts'

export interface CopyOptions {
  /** Called with the path relative to the source, with `/`. A directory that is excluded is not entered. */
  readonly exclude?: (relativePath: string, isDirectory: boolean) => boolean
  /** Copies a link that leads out of the source as it is. Default: throws. */
  readonly keepsOutside?: boolean
  /** Files are as old as in the source, for tools that compare times. */
  readonly keepsTimes?: boolean
}

/** Up to this size one read and one write are faster than a copy system call. */
const smallFileBytes = 64 * 1024
/** How long other work of this process may be blocked. */
const sliceMs = 25

const permissions = 0o777
const readFlags = fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0)
const writeFlags =
  fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL | (fs.constants.O_NOFOLLOW ?? 0)
const buffer = Buffer.allocUnsafeSlow(smallFileBytes)

/**
 * Copies the content of the directory `from` into the directory `to`, which is created if needed. Replaces files in the way. Never
 * writes through a link in the way.
 *
 * The copy shares no writable data with its source: large files are reflinks where possible, never hard links. Permissions are kept;
 * setuid and setgid are not, times only if asked. A link inside the source leads to the same place in the copy. A link that leads out throws
 * GantryError UNSAFE_PATH unless `keepsOutside` is set.
 */
export async function copyTree(
  from: string,
  to: string,
  { exclude, keepsOutside = false, keepsTimes = false }: CopyOptions = {},
) {
  const root = sourceRoot(from)
  const target = targetRoot(to)
  /** What was not copied: sockets, FIFOs and devices. */
  const warnings: string[] = []
  const keptModes = new Set<number>()
  const directoryModes: [Path, number][] = []
  const waiting: { readonly source: Path; readonly copy: Path; readonly prefix: string }[] = [
    { source: root, copy: target, prefix: '' },
  ]
  let files = 0
  let sliceEnd = performance.now() + sliceMs
  try {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { source, copy, prefix } = next
      for (const entry of listDirectory(source)) {
        const name = prefix + showPath(entry.name)
        if (exclude?.(name, entry.isDirectory())) continue
        const path = joinPath(source, entry.name)
        const place = joinPath(copy, entry.name)
        if (entry.isFile()) {
          const { atime, mtime } = copyFile(path, place, keptModes)
          if (keepsTimes) fs.utimesSync(place, atime, mtime)
          files += 1
        } else if (entry.isDirectory()) {
          if (path === target) throw unsafe(`${to} lies inside ${from}, which is copied there`)
          directoryModes.push([place, copyDirectory(path, place)])
          waiting.push({ source: path, copy: place, prefix: `${name}/` })
        } else if (entry.isSymbolicLink()) copyLink(root, name, path, place, keepsOutside)
        else warnings.push(`${name} is a socket, a FIFO or a device and was not copied`)
        if (performance.now() < sliceEnd) continue
        await setImmediate()
        sliceEnd = performance.now() + sliceMs
      }
    }
    // Children first, because nothing can be added to a read-only directory.
    for (const [place, mode] of directoryModes.reverse()) fs.chmodSync(place, mode)
  } catch (cause) {
    throw translateFsError(cause, `copy ${from} to ${to}`)
  }
  return { files, warnings }
}

function sourceRoot(from: string): string {
  try {
    const root = fs.realpathSync.native(from)
    if (isRealDirectory(root)) return root
  } catch (cause) {
    if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(cause) ?? '')) throw translateFsError(cause, `read ${from}`)
    throw new GantryError('NOT_FOUND', `the directory ${from} does not exist`, { cause })
  }
  throw new GantryError('NOT_FOUND', `${from} is not a directory`)
}

function targetRoot(to: string): string {
  makeDirectories(to)
  return translated(`find ${to}`, () => fs.realpathSync.native(to))
}

/** Makes the directory writable for now and returns its final mode. */
function copyDirectory(path: Path, place: Path): number {
  const mode = fs.lstatSync(path).mode & permissions
  try {
    fs.mkdirSync(place, 0o700)
  } catch (cause) {
    if (errnoOf(cause) !== 'EEXIST') throw cause
    if (!isRealDirectory(place)) throw unsafe(`${showPath(place)} is in the way of a directory`)
    fs.chmodSync(place, 0o700)
  }
  return mode
}

function copyFile(path: Path, place: Path, keptModes: Set<number>) {
  const input = fs.openSync(path, readFlags)
  try {
    const stats = fs.fstatSync(input)
    const mode = stats.mode & permissions
    if (stats.size > smallFileBytes) copyLargeFile(path, place, mode)
    else copySmallFile(input, place, mode, keptModes)
    return stats
  } finally {
    fs.closeSync(input)
  }
}

/** `keptModes`: modes that a new file keeps despite the umask. Tested once, instead of a chmod for every file. */
function copySmallFile(input: number, place: Path, mode: number, keptModes: Set<number>): void {
  const output = openNew(place, mode)
  try {
    for (;;) {
      const count = fs.readSync(input, buffer, 0, smallFileBytes, null)
      for (let written = 0; written < count; )
        written += fs.writeSync(output, buffer, written, count - written)
      if (count < smallFileBytes) break
    }
    if (keptModes.has(mode)) return
    if ((fs.fstatSync(output).mode & permissions) === mode) keptModes.add(mode)
    else fs.fchmodSync(output, mode)
  } finally {
    fs.closeSync(output)
  }
}

function openNew(place: Path, mode: number): number {
  try {
    return fs.openSync(place, writeFlags, mode)
  } catch (cause) {
    clearPlace(place, cause)
    return fs.openSync(place, writeFlags, mode)
  }
}

function copyLargeFile(path: Path, place: Path, mode: number): void {
  const flags = fs.constants.COPYFILE_FICLONE | fs.constants.COPYFILE_EXCL
  try {
    fs.copyFileSync(path, place, flags)
  } catch (cause) {
    clearPlace(place, cause)
    fs.copyFileSync(path, place, flags)
  }
  fs.chmodSync(place, mode)
}

function copyLink(root: string, name: string, path: Path, place: Path, keepsOutside: boolean): void {
  const target = linkTarget(root, name, path, keepsOutside)
  try {
    fs.symlinkSync(target, place)
  } catch (cause) {
    clearPlace(place, cause)
    fs.symlinkSync(target, place)
  }
}

/** The link's target, relative when it is an absolute path inside the source. */
function linkTarget(root: string, name: string, path: Path, keepsOutside: boolean): Path {
  if (typeof path !== 'string' && keepsOutside) return fs.readlinkSync(path, { encoding: 'buffer' })
  if (typeof path !== 'string') throw unsafe(`the link ${name} has a name that is not UTF-8`)
  const end = resolveInside(root, name)
  const target = fs.readlinkSync(path)
  if (end.kind === 'outside' && keepsOutside) return target
  if (end.kind === 'outside') throw unsafe(`the link ${name} leads out of ${root}: ${end.reason}`)
  if (!isAbsolute(target)) return fs.readlinkSync(path, { encoding: 'buffer' })
  return relative(join(root, dirname(name)), end.path) || '.'
}

/** Removes what is in the way of a new file, except a directory. */
function clearPlace(place: Path, cause: unknown): void {
  if (errnoOf(cause) !== 'EEXIST') throw cause
  if (isRealDirectory(place)) throw unsafe(`the directory ${showPath(place)} is in the way of a file`)
  fs.unlinkSync(place)
}

function unsafe(message: string): GantryError {
  const hint = 'Remove it, or point it to a path inside the directory.'
  return new GantryError('UNSAFE_PATH', message, { hint })
}
