import { statfsSync } from 'node:fs'
import { availableParallelism, constants, homedir, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { orElse } from './fs-error.ts'

/** `linux`, `darwin`, `win32`. */
export const platform: string = process.platform

export function describeHost() {
  return { os: process.platform, arch: process.arch, cpus: availableParallelism(), memoryBytes: totalmem() }
}

/** `$HOME` of the given environment, else the home of the account. */
export function homeDirectory(env: Readonly<Record<string, string | undefined>>): string {
  return env.HOME === undefined || env.HOME === '' ? homedir() : env.HOME
}

/** `$TMPDIR` of the given environment, else that of the system. */
export function temporaryRoot(env: Readonly<Record<string, string | undefined>>): string {
  return env.TMPDIR === undefined || env.TMPDIR === '' ? tmpdir() : env.TMPDIR
}

/** Gantry's cache directory, outside every run. */
export function cacheDirectory(): string {
  const { XDG_CACHE_HOME } = process.env
  const parent =
    XDG_CACHE_HOME === undefined || XDG_CACHE_HOME === '' ? join(homedir(), '.cache') : XDG_CACHE_HOME
  return join(parent, 'gantry')
}

export function signalNumber(signal: string | null): number {
  return Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0
}

/** Free bytes and files at this path; null when the system does not report them. */
export function freeSpace(path: string): { readonly bytes: number; readonly files: number } | null {
  return orElse(null, () => {
    const { bavail, bsize, ffree, files } = statfsSync(path)
    // Some file systems have no fixed number of files and report 0 of 0.
    return { bytes: bavail * bsize, files: files === 0 ? Number.POSITIVE_INFINITY : ffree }
  })
}
