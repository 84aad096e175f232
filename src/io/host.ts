import { availableParallelism, homedir, tmpdir, totalmem } from 'node:os'

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
