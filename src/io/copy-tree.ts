import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { GantryError } from '../core/error.ts'
import { makeDirectories } from './directory.ts'
import { errnoOf, translateFsError } from './fs-error.ts'
import { isRealDirectory, joinPath, listDirectory, type Path, showPath } from './list-directory.ts'
import { resolveInside } from './resolve-inside.ts'

export interface CopyOptions {
  /** Called with the path relative to the source, with `/`. A directory that is excluded is not entered. */
  readonly exclude?: (relativePath: string, isDirectory: boolean) => boolean
}

export interface CopyReport {
  readonly files: number
  /** What could not be taken along: sockets, FIFOs and devices. */
  readonly warnings: readonly string[]
}

/** Up to here one read and one write beat every call that copies inside the system. */
const smallFileBytes = 64 * 1024
/** How long other work of this process may have to wait. */
const sliceMs = 25

const permissions = 0o777
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const writeFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0)
const buffer = Buffer.allocUnsafeSlow(smallFileBytes)

/**
 * Copies what is in the directory `from` into the directory `to`, which is made when it is missing and otherwise
 * filled up; a file that is in the way is replaced, a link in the way is never written through.
 *
 * The copy shares nothing that can be written with its source: large files are reflinks where the file system has them,
 * never hard links. Permissions are kept, setuid, setgid and times are not. A link that stays inside the source leads
 * to the same place inside the copy; one that leads out is GantryError UNSAFE_PATH.
 */
export async function copyTree(from: string, to: string, { exclude }: CopyOptions = {}): Promise<CopyReport> {
  const root = sourceRoot(from)
  const target = targetRoot(to)
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
          copyFile(path, place, keptModes)
          files += 1
        } else if (entry.isDirectory()) {
          if (path === target) throw unsafe(`${to} lies inside ${from}, which is copied there`)
          directoryModes.push([place, copyDirectory(path, place)])
          waiting.push({ source: path, copy: place, prefix: `${name}/` })
        } else if (entry.isSymbolicLink()) copyLink(root, name, path, place)
        else warnings.push(`${name} is a socket, a FIFO or a device and was not copied`)
        if (performance.now() < sliceEnd) continue
        await setImmediate()
        sliceEnd = performance.now() + sliceMs
      }
    }
    // Children first: nothing could be put into a directory that is read-only already.
    for (const [place, mode] of directoryModes.reverse()) chmodSync(place, mode)
  } catch (cause) {
    throw translateFsError(cause, `copy ${from} to ${to}`)
  }
  return { files, warnings }
}

function sourceRoot(from: string): string {
  try {
    const root = realpathSync.native(from)
    if (isRealDirectory(root)) return root
  } catch (cause) {
    if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(cause) ?? '')) throw translateFsError(cause, `read ${from}`)
    throw new GantryError('NOT_FOUND', `the directory ${from} does not exist`, { cause })
  }
  throw new GantryError('NOT_FOUND', `${from} is not a directory`)
}

function targetRoot(to: string): string {
  makeDirectories(to)
  try {
    return realpathSync.native(to)
  } catch (cause) {
    throw translateFsError(cause, `find ${to}`)
  }
}

/** Makes the directory writable for now and returns the mode it gets in the end. */
function copyDirectory(path: Path, place: Path): number {
  const mode = lstatSync(path).mode & permissions
  try {
    mkdirSync(place, 0o700)
  } catch (cause) {
    if (errnoOf(cause) !== 'EEXIST') throw cause
    if (!isRealDirectory(place)) throw unsafe(`${showPath(place)} is in the way of a directory`)
    chmodSync(place, 0o700)
  }
  return mode
}

function copyFile(path: Path, place: Path, keptModes: Set<number>): void {
  const input = openSync(path, readFlags)
  try {
    const stats = fstatSync(input)
    const mode = stats.mode & permissions
    if (stats.size > smallFileBytes) copyLargeFile(path, place, mode)
    else copySmallFile(input, place, mode, keptModes)
  } finally {
    closeSync(input)
  }
}

/** `keptModes`: what a new file is made with and gets, umask or not; found out once instead of setting it on every file. */
function copySmallFile(input: number, place: Path, mode: number, keptModes: Set<number>): void {
  const output = openNew(place, mode)
  try {
    for (;;) {
      const count = readSync(input, buffer, 0, smallFileBytes, null)
      for (let written = 0; written < count; ) written += writeSync(output, buffer, written, count - written)
      if (count < smallFileBytes) break
    }
    if (keptModes.has(mode)) return
    if ((fstatSync(output).mode & permissions) === mode) keptModes.add(mode)
    else fchmodSync(output, mode)
  } finally {
    closeSync(output)
  }
}

function openNew(place: Path, mode: number): number {
  try {
    return openSync(place, writeFlags, mode)
  } catch (cause) {
    clearPlace(place, cause)
    return openSync(place, writeFlags, mode)
  }
}

function copyLargeFile(path: Path, place: Path, mode: number): void {
  const flags = constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL
  try {
    copyFileSync(path, place, flags)
  } catch (cause) {
    clearPlace(place, cause)
    copyFileSync(path, place, flags)
  }
  chmodSync(place, mode)
}

function copyLink(root: string, name: string, path: Path, place: Path): void {
  const target = linkTarget(root, name, path)
  try {
    symlinkSync(target, place)
  } catch (cause) {
    clearPlace(place, cause)
    symlinkSync(target, place)
  }
}

/** What the link says, unless it names the source by an absolute path: then the way from the link to that place. */
function linkTarget(root: string, name: string, path: Path): Path {
  if (typeof path !== 'string') throw unsafe(`the link ${name} has a name that is not UTF-8`)
  const end = resolveInside(root, name)
  const target = readlinkSync(path)
  if (end.kind === 'outside') throw unsafe(`the link ${name} leads out of ${root}: ${end.reason}`)
  if (!isAbsolute(target)) return readlinkSync(path, { encoding: 'buffer' })
  return relative(join(root, dirname(name)), end.path) || '.'
}

/** Makes room for a new file, unless a directory would be lost by that. */
function clearPlace(place: Path, cause: unknown): void {
  if (errnoOf(cause) !== 'EEXIST') throw cause
  if (isRealDirectory(place)) throw unsafe(`the directory ${showPath(place)} is in the way of a file`)
  unlinkSync(place)
}

function unsafe(message: string): GantryError {
  const hint = 'Remove it, or make it lead to a place inside the directory.'
  return new GantryError('UNSAFE_PATH', message, { hint })
}
