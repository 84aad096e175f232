import fs from 'node:fs'
import { errnoOf } from './fs-error.ts'
import { removeTree } from './remove-tree.ts'

/** The saved entry at a path, without following links, so it can be restored. */
export type SavedEntry =
  | { readonly kind: 'missing' | 'directory' }
  | { readonly kind: 'file'; readonly mode: number; readonly base64: string }
  | { readonly kind: 'link'; readonly target: string }
  /** Too large, of another kind, or unreadable: a change can be detected, but not undone. */
  | { readonly kind: 'unkept'; readonly stamp: string }

const maxBytes = 16 * 1024 * 1024

export function saveEntry(path: string): SavedEntry {
  try {
    const stats = fs.lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return { kind: 'missing' }
    if (stats.isDirectory()) return { kind: 'directory' }
    if (stats.isSymbolicLink()) return { kind: 'link', target: fs.readlinkSync(path) }
    const { mode, size, mtimeMs, ino } = stats
    if (!stats.isFile() || size > maxBytes)
      return { kind: 'unkept', stamp: `${mode} ${size} ${mtimeMs} ${ino}` }
    return { kind: 'file', mode: mode & 0o7777, base64: fs.readFileSync(path, 'base64') }
  } catch (cause) {
    // A part of its path is not a directory.
    return errnoOf(cause) === 'ENOTDIR'
      ? { kind: 'missing' }
      : { kind: 'unkept', stamp: errnoOf(cause) ?? '' }
  }
}

export function isSameEntry(one: SavedEntry, other: SavedEntry): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** Restores the entry, never writing through a link. Returns whether it succeeded. A directory is restored empty. */
export function restoreEntry(path: string, entry: SavedEntry): boolean {
  if (entry.kind === 'unkept') return false
  try {
    removeTree(path)
    if (entry.kind === 'directory') fs.mkdirSync(path)
    if (entry.kind === 'link') fs.symlinkSync(entry.target, path)
    if (entry.kind === 'file') {
      fs.writeFileSync(path, entry.base64, { encoding: 'base64', flag: 'wx', mode: entry.mode })
      fs.chmodSync(path, entry.mode)
    }
    return true
  } catch {
    return false
  }
}
