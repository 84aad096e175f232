import fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { GantryError } from '../core/error.ts'
import { makeDirectories } from './directory.ts'
import { errnoOf, translated, translateFsError } from './fs-error.ts'

/** A user's file to change: its real path and its text when it was read. */
export interface ForeignFile {
  readonly path: string
  /** The real path. This file is written, so a linked settings file stays a link. */
  readonly real: string
  /** null when it does not exist. */
  readonly text: string | null
}

/** Throws for a dangling link, a directory, and bytes that are not text. */
export function readForeignFile(path: string): ForeignFile {
  const real = realTarget(path)
  try {
    return { path, real, text: decode(path, fs.readFileSync(real)) }
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return { path, real, text: null }
    throw translateFsError(cause, `read ${path}`)
  }
}

/** Throws what `replaceForeignFile` would throw because of permissions, and changes nothing. */
export function checkReplaceable({ path, real }: ForeignFile): void {
  const stats = fs.statSync(real, { throwIfNoEntry: false })
  // Root may write anything, but a read-only file is read-only on purpose.
  if (stats !== undefined && (stats.mode & 0o222) === 0) {
    throw new GantryError('NOT_WRITABLE', `${path} is read-only`, {
      hint: `Allow it first: chmod u+w ${real}`,
    })
  }
  translated(`write ${path}`, () => fs.accessSync(nearestDirectory(dirname(real)), fs.constants.W_OK))
}

/**
 * Replaces the file atomically with `text`, keeping mode and owner. Throws LOCKED when the file changed since it was read, because
 * agents write their settings too. One Gantry process at a time.
 */
export function replaceForeignFile(file: ForeignFile, text: string): void {
  checkReplaceable(file)
  const { path, real } = file
  const draft = draftOf(real)
  try {
    makeDirectories(dirname(real))
    discardDraft(file)
    writeDraft(draft, text, fs.statSync(real, { throwIfNoEntry: false }))
    checkUnchanged(file)
    fs.renameSync(draft, real)
  } catch (cause) {
    fs.rmSync(draft, { force: true })
    throw translateFsError(cause, `write ${path}`)
  }
}

/** Temporary file of a killed writer. The name is constant, so the next writer finds it. */
export function discardDraft({ real }: ForeignFile): void {
  fs.rmSync(draftOf(real), { force: true })
}

/** Removes the file, unless it changed since it was read. */
export function removeForeignFile(file: ForeignFile): void {
  checkReplaceable(file)
  checkUnchanged(file)
  translated(`remove ${file.path}`, () => fs.rmSync(file.real, { force: true }))
}

/** Copies the file beside it with the same mode. Never overwrites a file. */
export function copyBeside({ path, real, text }: ForeignFile, copy: string): void {
  try {
    writeDraft(copy, text ?? '', fs.statSync(real, { throwIfNoEntry: false }))
  } catch (cause) {
    fs.rmSync(copy, { force: true })
    throw translateFsError(cause, `back up ${path}`)
  }
}

function draftOf(real: string): string {
  return join(dirname(real), `.${basename(real)}.gantry-draft`)
}

function writeDraft(path: string, text: string, like: fs.Stats | undefined): void {
  const fd = fs.openSync(path, 'wx', like === undefined ? 0o666 : like.mode & 0o777)
  try {
    fs.writeFileSync(fd, text)
  } finally {
    fs.closeSync(fd)
  }
  if (like === undefined) return
  // Restore mode bits removed by the umask.
  fs.chmodSync(path, like.mode & 0o7777)
  const own = fs.statSync(path)
  if (own.uid !== like.uid || own.gid !== like.gid) fs.chownSync(path, like.uid, like.gid)
}

function checkUnchanged(file: ForeignFile): void {
  if (readForeignFile(file.path).text === file.text) return
  throw new GantryError('LOCKED', `${file.path} was changed by another program just now`, {
    hint: 'Try again. Nothing was lost.',
  })
}

function realTarget(path: string): string {
  try {
    return fs.realpathSync(path)
  } catch (cause) {
    if (errnoOf(cause) !== 'ENOENT') throw translateFsError(cause, `read ${path}`)
    const stats = fs.lstatSync(path, { throwIfNoEntry: false })
    if (stats?.isSymbolicLink() === true) {
      throw new GantryError(
        'NOT_WRITABLE',
        `${path} is a link to ${fs.readlinkSync(path)}, which is not there`,
        { hint: 'Create the file it leads to, or remove the link.' },
      )
    }
    const parent = dirname(path)
    return parent === path ? path : join(realTarget(parent), basename(path))
  }
}

function nearestDirectory(directory: string): string {
  const exists = fs.statSync(directory, { throwIfNoEntry: false }) !== undefined
  return exists || dirname(directory) === directory ? directory : nearestDirectory(dirname(directory))
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new GantryError('INVALID_FILE', `${path} is not UTF-8`, {
      hint: 'Fix the file and try again. Nothing was changed.',
      at: { file: path },
      cause,
    })
  }
}
