import fs from 'node:fs'
import { dirname } from 'node:path'
import { GantryError } from '../core/error.ts'
import { makeDirectories, readTextIfExists } from './directory.ts'
import { isExecutable } from './find-program.ts'
import { allowing, errnoOf, isDone, translated, translateFsError } from './fs-error.ts'
import { quickId, quickRandom } from './quick-random.ts'

/**
 * Appends in exactly one `O_APPEND` write. The file and its directories are created for this user only. Writes a line break first, so
 * an unfinished line of a killed writer does not corrupt the next.
 */
export function appendPrivateLine(path: string, line: string): void {
  try {
    inDirectoryOf(path, () => {
      const fd = fs.openSync(path, 'a', 0o600)
      try {
        const bytes = Buffer.from(`\n${line}\n`)
        const written = fs.writeSync(fd, bytes)
        // A second write would not be atomic. A short write means that the disk is full.
        if (written < bytes.length) fs.writeSync(fd, bytes, written)
        if (written < bytes.length) throw new GantryError('NO_SPACE', `cannot append to ${path} in one piece`)
      } finally {
        fs.closeSync(fd)
      }
    })
  } catch (cause) {
    throw translateFsError(cause, `append to ${path}`)
  }
}

/** Atomic. Only this user can read the file. */
export function writePrivateFileAtomic(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${quickId(12)}.tmp`
  try {
    inDirectoryOf(path, () => writeNew(draft, content))
    fs.renameSync(draft, path)
  } catch (cause) {
    allowing(['ENOTDIR'], () => fs.rmSync(draft, { force: true }))
    throw translateFsError(cause, `write ${path}`)
  }
}

/** Marks a file as used now. false when it does not exist. */
export function touchFile(path: string): boolean {
  const now = new Date()
  return translated(`touch ${path}`, () => isDone(['ENOENT'], () => fs.utimesSync(path, now, now)))
}

/**
 * Overwrites the file in place, for content whose reader detects a partial write. Shorter content is padded with blanks. Some file
 * systems flush a truncated or replaced file to disk at once, but not this one.
 */
export function writePrivateFileInPlace(path: string, content: string): void {
  translated(`write ${path}`, () =>
    inDirectoryOf(path, () => {
      const fd = fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_CREAT, 0o600)
      try {
        fs.writeSync(fd, content.padEnd(fs.fstatSync(fd).size), 0)
      } finally {
        fs.closeSync(fd)
      }
    }),
  )
}

/** A secret of this user, created if needed. Concurrent processes get the same one. */
export function sharedSecret(path: string, length: number): Uint8Array {
  const known = readIfThere(path)
  if (known !== null) return checked(path, known, length)
  const draft = `${path}.${quickId(12)}.tmp`
  try {
    inDirectoryOf(path, () => writeNew(draft, quickRandom(length)))
    // Linked into place, so the first writer wins and no reader sees a partial file.
    allowing(['EEXIST'], () => fs.linkSync(draft, path))
  } catch (cause) {
    throw translateFsError(cause, `write ${path}`)
  } finally {
    fs.rmSync(draft, { force: true })
  }
  return checked(path, readIfThere(path), length)
}

/** Creates the directory for this user only, if needed. */
export function makePrivateDirectories(dir: string): void {
  makeDirectories(dir, 0o700)
}

function checked(path: string, bytes: Uint8Array | null, length: number): Uint8Array {
  if (bytes?.length === length) return bytes
  throw new GantryError('CORRUPT', `${path} is damaged`, {
    hint: 'Delete it. Everything sealed with it becomes invalid.',
  })
}

function readIfThere(path: string): Uint8Array | null {
  return translated(`read ${path}`, () => allowing(['ENOENT'], () => fs.readFileSync(path)) ?? null)
}

function writeNew(path: string, content: string | Uint8Array): void {
  const fd = fs.openSync(path, 'wx', 0o600)
  try {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    for (let at = 0; at < bytes.length; ) at += fs.writeSync(fd, bytes, at)
  } finally {
    fs.closeSync(fd)
  }
}

/** Creates directories only when they are missing, because checking first would cost time on every write. */
function inDirectoryOf(path: string, work: () => void): void {
  try {
    work()
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw cause
    makePrivateDirectories(dirname(path))
    work()
  }
}

/** Creates a directory that only this user can enter, if needed. Returns false when it belongs to another user or is open. */
export function privateDirectory(path: string, uid: number): boolean {
  const stats = fs.lstatSync(path, { throwIfNoEntry: false }) ?? made(path)
  return stats?.isDirectory() === true && stats.uid === uid && (stats.mode & 0o077) === 0
}

function made(path: string) {
  try {
    makePrivateDirectories(path)
  } catch (cause) {
    if (cause instanceof GantryError) return undefined
    throw cause
  }
  return fs.lstatSync(path, { throwIfNoEntry: false })
}

/** Whether exactly this program exists and is executable. */
export function hasProgram(path: string, text: string): boolean {
  return readTextIfExists(path) === text && isExecutable(path)
}

/** Writes a script that only this user may read, write and run. Returns false when it cannot be run from there. */
export function writePrivateProgram(path: string, text: string): boolean {
  writePrivateFileAtomic(path, text)
  makeExecutable(path, 0o700)
  return isExecutable(path)
}

export function makeExecutable(path: string, mode: 0o700 | 0o755): void {
  translated(`make ${path} executable`, () => fs.chmodSync(path, mode))
}
