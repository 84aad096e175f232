import { accessSync, lstatSync, type Stats, statSync } from 'node:fs'
import { allowing, orElse } from './fs-error.ts'
import type { Path } from './list-directory.ts'

/** What is at a path, following links; null when nothing is. */
export function pathKind(path: string): 'file' | 'directory' | 'other' | null {
  const stats = statsOf(path)
  if (stats === undefined) return null
  if (stats.isFile()) return 'file'
  return stats.isDirectory() ? 'directory' : 'other'
}

/** The path cannot be resolved: a loop of links, a name that is too long, or a closed directory. */
const unreachable = ['ELOOP', 'ENAMETOOLONG', 'EACCES']

function statsOf(path: string): Stats | undefined {
  if (path.includes('\0')) return undefined
  return allowing(unreachable, () => statSync(path, { throwIfNoEntry: false }))
}

export function isFile(path: string): boolean {
  return pathKind(path) === 'file'
}

export function isDirectory(path: string): boolean {
  return pathKind(path) === 'directory'
}

/**
 * Whether reading it may never end: a pipe, a socket or a device. Not the pipes of a shell, as in
 * `gantry … <(command)`.
 */
export function isEndless(path: string): boolean {
  return pathKind(path) === 'other' && !/^\/(?:dev\/(?:fd|std)|proc\/)/.test(path)
}

/** Whether there is certainly nothing, not even a dangling link. */
export function isMissing(path: string): boolean {
  return orElse(false, () => lstatSync(path, { throwIfNoEntry: false }) === undefined)
}

/** What is at a path, without following links; null when there is nothing or it cannot be read. */
export function entryKind(path: Path): 'file' | 'directory' | 'link' | 'other' | null {
  const stats = orElse(undefined, () => lstatSync(path, { throwIfNoEntry: false }))
  if (stats === undefined) return null
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'link' : 'other'
}

/** Whether there is a socket, perhaps without a listener. */
export function isSocket(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isSocket() === true
}

/** When a file or its attributes last changed, by the kernel's clock: a program cannot set it back. 0 for a missing file. */
export function changedAtMs(path: string): number {
  return orElse(0, () => lstatSync(path).ctimeMs)
}

/** When a file was made, where the file system tells; else when it last changed. A program cannot set it back. 0 for a missing file. */
export function createdAtMs(path: string): number {
  return orElse(0, () => {
    const { birthtimeMs, ctimeMs } = lstatSync(path)
    return birthtimeMs || ctimeMs
  })
}

/** Whether this process may do it: `constants.W_OK` or `constants.X_OK`. */
export function mayAccess(path: string, mode: number): boolean {
  return orElse(false, () => {
    accessSync(path, mode)
    return true
  })
}
