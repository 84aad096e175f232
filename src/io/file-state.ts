import fs from 'node:fs'
import { dirname } from 'node:path'
import { errnoOf, orElse } from './fs-error.ts'
import { sha256 } from './sha256.ts'

/** What distinguishes two states of a path without reading it. */
export interface FileMark {
  readonly kind: 'file' | 'directory' | 'link' | 'other'
  /** Size, times, inode and mode, of a link also those of its target. */
  readonly mark: string
  /** Changed so recently that a second change could have the same times, so the mark does not prove that nothing changed. */
  readonly isFresh: boolean
}

export interface FileState extends FileMark {
  /** Permission bits. */
  readonly mode: number
  /** Target of a link. */
  readonly link?: string
  /** Of the content, also of what a link leads to. Of a file that cannot be read or is too large: its mark. */
  readonly hash: string
  /** At most the requested number of bytes, otherwise null. */
  readonly content: Buffer | null
}

/** The clock of a file system advances in steps of up to ten milliseconds. */
const clockStepMs = 20

/** null when nothing is there or it cannot be looked up. */
export function fileMark(path: string, nowMs: number): FileMark | null {
  const own = statOf(path, fs.lstatSync)
  if (own === null) return null
  const target = own.isSymbolicLink() ? statOf(path, fs.statSync) : null
  const latest = Math.max(...[own, target].map((stats) => Number(stats?.ctimeMs ?? 0n)))
  return {
    kind: kindOf(own),
    mark: target === null ? markOf(own) : `${markOf(own)} ${markOf(target)}`,
    isFresh: latest > nowMs - clockStepMs,
  }
}

/** Reads the content of a regular file, also through a link. A pipe or a device is never opened. */
export function fileState(
  path: string,
  limits: { readonly hashBytes: number; readonly keepBytes: number },
  nowMs: number,
): FileState | null {
  const mark = fileMark(path, nowMs)
  const stats = mark === null ? null : statOf(path, mark.kind === 'link' ? fs.statSync : fs.lstatSync)
  if (mark === null) return null
  const link = mark.kind === 'link' ? { link: fs.readlinkSync(path) } : {}
  const mode = Number((stats?.mode ?? 0n) & 0o7777n)
  const base = { ...mark, ...link, mode }
  if (stats === null || !stats.isFile() || stats.size > BigInt(limits.hashBytes))
    return { ...base, hash: stats?.isFile() === true ? mark.mark : kindOf(stats), content: null }
  const content = readIfAllowed(path)
  if (content === null) return { ...base, hash: mark.mark, content: null }
  return { ...base, hash: sha256(content), content: content.length <= limits.keepBytes ? content : null }
}

function statOf(
  path: string,
  stat: (
    path: string,
    how: { readonly bigint: true; readonly throwIfNoEntry: false },
  ) => fs.BigIntStats | undefined,
): fs.BigIntStats | null {
  return orElse(null, () => stat(path, { bigint: true, throwIfNoEntry: false }) ?? null)
}

function markOf({ size, mtimeNs, ctimeNs, ino, mode }: fs.BigIntStats): string {
  return [size, mtimeNs, ctimeNs, ino, mode].map((value) => value.toString(36)).join('.')
}

function kindOf(stats: fs.BigIntStats | null): FileMark['kind'] {
  if (stats?.isFile() === true) return 'file'
  if (stats?.isDirectory() === true) return 'directory'
  return stats?.isSymbolicLink() === true ? 'link' : 'other'
}

function readIfAllowed(path: string): Buffer | null {
  return orElse(null, () => fs.readFileSync(path))
}

/** What a file is to be again. */
export interface WantedFile {
  readonly content: Uint8Array
  readonly mode: number
  readonly link?: string
}

/**
 * Restores content, mode and link. An existing file is overwritten in place, so that its other names change back too. What is in the way
 * must have been moved before. Returns why it failed, or null.
 */
export function putBack(path: string, { content, mode, link }: WantedFile): string | null {
  try {
    fs.mkdirSync(dirname(path), { recursive: true })
    const isLink = statOf(path, fs.lstatSync)?.isSymbolicLink() === true
    if (link !== undefined && !(isLink && fs.readlinkSync(path) === link)) {
      fs.rmSync(path, { force: true })
      fs.symlinkSync(link, path)
    } else if (link === undefined && isLink) fs.rmSync(path, { force: true })
    const real = link === undefined ? path : orElse(path, () => fs.realpathSync(path))
    if (readIfAllowed(real)?.equals(content) !== true) {
      if (statOf(real, fs.lstatSync) !== null) fs.chmodSync(real, mode | 0o200)
      fs.writeFileSync(real, content, { mode })
    }
    fs.chmodSync(real, mode)
    return null
  } catch (cause) {
    return errnoOf(cause) ?? String(cause)
  }
}

/** Gives the owner of a directory all rights in it, as far as that is allowed. */
export function openDirectory(path: string): void {
  const mode = Number(statOf(path, fs.lstatSync)?.mode ?? 0o700n) & 0o7777
  if ((mode & 0o700) !== 0o700) orElse(null, () => fs.chmodSync(path, mode | 0o700))
}

/** Moves whatever is at a path to a new path in an existing directory, also to another file system. Returns why it failed, or null. */
export function moveAside(path: string, to: string): string | null {
  try {
    fs.renameSync(path, to)
    return null
  } catch (cause) {
    if (errnoOf(cause) !== 'EXDEV') return errnoOf(cause) ?? String(cause)
  }
  try {
    if (statOf(path, fs.lstatSync)?.isFile() === true) fs.copyFileSync(path, to)
    fs.rmSync(path, { recursive: true, force: true })
    return null
  } catch (cause) {
    return errnoOf(cause) ?? String(cause)
  }
}
