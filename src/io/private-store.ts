import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { GantryError } from '../core/error.ts'
import { readTextIfExists } from './directory.ts'
import { isExecutable } from './find-program.ts'
import { errnoOf, translateFsError } from './fs-error.ts'
import { isDirectory } from './path-kind.ts'
import { quickId, quickRandom } from './quick-random.ts'

/**
 * Appends in exactly one `O_APPEND` write; the file and its directories are made for this user alone. A line break comes
 * first as well, so that whatever a killed writer left unfinished spoils itself and never the line that follows.
 */
export function appendPrivateLine(path: string, line: string): void {
  try {
    inDirectoryOf(path, () => {
      const fd = openSync(path, 'a', 0o600)
      try {
        const bytes = Buffer.from(`\n${line}\n`)
        const written = writeSync(fd, bytes)
        // The rest would not be one write any more, and what is missing is the disk's fault: let it say so.
        if (written < bytes.length) writeSync(fd, bytes, written)
        if (written < bytes.length) throw new GantryError('NO_SPACE', `cannot append to ${path} in one piece`)
      } finally {
        closeSync(fd)
      }
    })
  } catch (cause) {
    throw translateFsError(cause, `append to ${path}`)
  }
}

/** A reader sees the old content or the new. The file is for this user alone. */
export function writePrivateAtomic(path: string, content: string | Uint8Array): void {
  const draft = `${path}.${quickId(12)}.tmp`
  try {
    inDirectoryOf(path, () => writeNew(draft, content))
    renameSync(draft, path)
  } catch (cause) {
    rmSync(draft, { force: true })
    throw translateFsError(cause, `write ${path}`)
  }
}

/**
 * Writes over what is there, for content whose reader notices a partial write; shorter content is followed by blanks. Some file
 * systems write a file that was cut to nothing, or replaced, to the disk at once: this one they leave for later.
 */
export function writePrivateInPlace(path: string, content: string): void {
  try {
    inDirectoryOf(path, () => {
      const fd = openSync(path, constants.O_WRONLY | constants.O_CREAT, 0o600)
      try {
        writeSync(fd, content.padEnd(fstatSync(fd).size), 0)
      } finally {
        closeSync(fd)
      }
    })
  } catch (cause) {
    throw translateFsError(cause, `write ${path}`)
  }
}

/** A secret of this user, made when it is not there; of many processes that make it at once all get the same one. */
export function sharedSecret(path: string, length: number): Uint8Array {
  const known = readIfThere(path)
  if (known !== null) return checked(path, known, length)
  const draft = `${path}.${quickId(12)}.tmp`
  try {
    inDirectoryOf(path, () => writeNew(draft, quickRandom(length)))
    try {
      // Linked into place: the first writer wins, and no reader sees half of it.
      linkSync(draft, path)
    } catch (cause) {
      if (errnoOf(cause) !== 'EEXIST') throw cause
    }
  } catch (cause) {
    throw translateFsError(cause, `write ${path}`)
  } finally {
    rmSync(draft, { force: true })
  }
  return checked(path, readIfThere(path), length)
}

/** Made for this user alone; fine when it is there already. */
export function makePrivateDirectories(dir: string): void {
  try {
    mkdirSync(dir, { mode: 0o700 })
  } catch (cause) {
    if (errnoOf(cause) === 'EEXIST' && isDirectory(dir)) return
    if (errnoOf(cause) !== 'ENOENT' || dirname(dir) === dir || isDirectory(dirname(dir)))
      throw translateFsError(cause, `make the directory ${dir}`)
    makePrivateDirectories(dirname(dir))
    makePrivateDirectories(dir)
  }
}

function checked(path: string, bytes: Uint8Array | null, length: number): Uint8Array {
  if (bytes?.length === length) return bytes
  throw new GantryError('CORRUPT', `${path} is damaged`, {
    hint: 'Delete it; what was sealed with it does not count any more.',
  })
}

function readIfThere(path: string): Uint8Array | null {
  try {
    return readFileSync(path)
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return null
    throw translateFsError(cause, `read ${path}`)
  }
}

function writeNew(path: string, content: string | Uint8Array): void {
  const fd = openSync(path, 'wx', 0o600)
  try {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
  } finally {
    closeSync(fd)
  }
}

/** Directories are made only when they turn out to be missing: looking first would cost every time. */
function inDirectoryOf(path: string, work: () => void): void {
  try {
    work()
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw cause
    makePrivateDirectories(dirname(path))
    work()
  }
}

/** A directory that only this user can enter, made when it is missing. false when it belongs to another user or is open. */
export function privateDirectory(path: string, uid: number): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false }) ?? made(path)
  return stats?.isDirectory() === true && stats.uid === uid && (stats.mode & 0o077) === 0
}

function made(path: string) {
  try {
    makePrivateDirectories(path)
  } catch (cause) {
    if (cause instanceof GantryError) return undefined
    throw cause
  }
  return lstatSync(path, { throwIfNoEntry: false })
}

/** Is exactly this program there, and may it be started? */
export function hasProgram(path: string, text: string): boolean {
  return readTextIfExists(path) === text && isExecutable(path)
}

/** Writes a script that this user alone may read, write and start. False when it cannot be started from there. */
export function writePrivateProgram(path: string, text: string): boolean {
  writePrivateAtomic(path, text)
  makeExecutable(path, 0o700)
  return isExecutable(path)
}

export function makeExecutable(path: string, mode: 0o700 | 0o755): void {
  try {
    chmodSync(path, mode)
  } catch (cause) {
    throw translateFsError(cause, `make ${path} executable`)
  }
}
