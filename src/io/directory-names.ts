import { readdirSync } from 'node:fs'

export interface NamedEntry {
  readonly name: string
  /** Not a directory and no link to one: there is nothing in it. */
  readonly leaf: boolean
}

/** Names in a directory, at most so many; null when it is none or closed to us. */
export function directoryNames(path: string, most: number): readonly NamedEntry[] | null {
  if (path.includes('\0')) return null
  try {
    return readdirSync(path, { withFileTypes: true })
      .slice(0, most)
      .map((entry) => ({ name: entry.name, leaf: entry.isFile() }))
  } catch {
    return null
  }
}
