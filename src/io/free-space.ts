import { statfsSync } from 'node:fs'

/** Bytes and files that still fit where this path is; null when the system does not tell. */
export function freeSpace(path: string): { readonly bytes: number; readonly files: number } | null {
  try {
    const { bavail, bsize, ffree, files } = statfsSync(path)
    // Some file systems have no fixed number of files and say 0 of 0.
    return { bytes: bavail * bsize, files: files === 0 ? Number.POSITIVE_INFINITY : ffree }
  } catch {
    return null
  }
}
