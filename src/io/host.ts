import { statfsSync } from 'node:fs'
import { availableParallelism, homedir, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'

export interface Host {
  readonly os: string
  readonly arch: string
  readonly cpus: number
  readonly memoryBytes: number
}

/** `linux`, `darwin`, `win32`. */
export const platform: string = process.platform

/** The machine we run on, as far as a result may depend on it. */
export function describeHost(): Host {
  return { os: process.platform, arch: process.arch, cpus: availableParallelism(), memoryBytes: totalmem() }
}

/** `$HOME` as the caller's environment has it; the account's own when it says nothing. */
export function homeDirectory(env: Readonly<Record<string, string | undefined>>): string {
  return env.HOME === undefined || env.HOME === '' ? homedir() : env.HOME
}

/** `$TMPDIR` as the caller's environment has it; the system's own when it says nothing. */
export function temporaryRoot(env: Readonly<Record<string, string | undefined>>): string {
  return env.TMPDIR === undefined || env.TMPDIR === '' ? tmpdir() : env.TMPDIR
}

/** Gantry's own directory for what can be made anew, outside every run. */
export function cacheDirectory(): string {
  const { XDG_CACHE_HOME } = process.env
  const parent =
    XDG_CACHE_HOME === undefined || XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME
  return join(parent, 'gantry')
}

/** Bytes and files that still fit where this path is; null when the system does not report it. */
export function freeSpace(path: string): { readonly bytes: number; readonly files: number } | null {
  try {
    const { bavail, bsize, ffree, files } = statfsSync(path)
    // Some file systems have no fixed number of files and say 0 of 0.
    return { bytes: bavail * bsize, files: files === 0 ? Number.POSITIVE_INFINITY : ffree }
  } catch {
    return null
  }
}
