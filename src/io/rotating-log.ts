import fs from 'node:fs'
import { dirname } from 'node:path'
import { GantryError } from '../core/error.ts'
import { endsInNewline } from './append-log.ts'
import { makeDirectories } from './directory.ts'
import { allowing, errnoOf, translateFsError } from './fs-error.ts'
import { acquireLock } from './lock.ts'

export interface RotatingLog {
  readonly path: string
  /** Name of a full log. The newest is number 1. */
  readonly olderPath: (number: number) => string
  /** How many full logs are kept. */
  readonly keep: number
  readonly maxBytes: number
}

/**
 * Appends whole lines, each call one `O_APPEND` write, and rotates a full log. Safe for concurrent processes: no line is lost, and only
 * one of them rotates. A symbolic or hard link at the path is replaced, never written through. Throws when the path is not a file, and
 * never blocks on it.
 */
export function appendRotating(log: RotatingLog, lines: string): void {
  try {
    const bytes = Buffer.from(lines)
    const size = sizeOf(log.path)
    if (size > 0 && size + bytes.length > log.maxBytes) rotate(log, bytes.length)
    for (let tries = 0; tries < maxTries; tries += 1) if (appended(log.path, bytes)) return
  } catch (cause) {
    throw translateFsError(cause, `append to ${log.path}`)
  }
}

/** Each further try means that the log was filled and deleted between opening and writing. */
const maxTries = 5

function rotate({ path, olderPath, keep, maxBytes }: RotatingLog, more: number): void {
  // A second process appends to the full log or to the new one. Both are fine.
  const lockPath = `${path}.lock`
  if (fs.lstatSync(lockPath, { throwIfNoEntry: false })?.isFile() === false) throw noLog(lockPath)
  const lock = acquireLock(lockPath, { label: 'rotates a log' })
  if (lock === null) return
  try {
    if (sizeOf(path) + more <= maxBytes) return
    removeIfThere(olderPath(keep))
    for (let number = keep - 1; number >= 1; number -= 1)
      moveIfThere(olderPath(number), olderPath(number + 1))
    if (keep >= 1) moveIfThere(path, olderPath(1))
    else removeIfThere(path)
  } finally {
    lock.release()
  }
}

/** False when the file was deleted meanwhile, so the text is lost. */
function appended(path: string, bytes: Uint8Array): boolean {
  const fd = open(path)
  try {
    const torn = !endsInNewline(fd)
    const whole = torn ? Buffer.concat([Buffer.from('\n'), bytes]) : bytes
    for (let at = 0; at < whole.length; ) at += fs.writeSync(fd, whole, at)
    return fs.fstatSync(fd).nlink > 0
  } finally {
    fs.closeSync(fd)
  }
}

function open(path: string): number {
  const before = fs.lstatSync(path, { throwIfNoEntry: false })
  if (before !== undefined && !before.isFile() && !before.isSymbolicLink()) throw noLog(path)
  if (before?.isSymbolicLink() || (before?.nlink ?? 1) > 1) removeIfThere(path)
  try {
    return fs.openSync(path, flags, 0o644)
  } catch (cause) {
    if (errnoOf(cause) === 'ELOOP') removeIfThere(path)
    else if (errnoOf(cause) === 'ENOENT') makeDirectories(dirname(path))
    else throw cause
    return fs.openSync(path, flags, 0o644)
  }
}

/** `O_NONBLOCK`, in case a pipe appeared after the check. */
const flags: number =
  fs.constants.O_APPEND |
  fs.constants.O_CREAT |
  fs.constants.O_RDWR |
  (fs.constants.O_NOFOLLOW ?? 0) |
  (fs.constants.O_NONBLOCK ?? 0)

function noLog(path: string): GantryError {
  return new GantryError('NOT_WRITABLE', `cannot use ${path}: it is not a file`, { hint: 'Move it away.' })
}

/** 0 for anything but a regular file with one name: only such a file is rotated. */
function sizeOf(path: string): number {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false })
  return stats?.isFile() && stats.nlink === 1 ? stats.size : 0
}

function moveIfThere(from: string, to: string): void {
  allowing(['ENOENT'], () => fs.renameSync(from, to))
}

/** Never a directory. */
function removeIfThere(path: string): void {
  allowing(['ENOENT'], () => fs.unlinkSync(path))
}
