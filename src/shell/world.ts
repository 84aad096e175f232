import { delimiter } from 'node:path'
import type { Resolved } from '../io/resolve-links.ts'

/** Read-only, synchronous access to the disk: names, kinds and short texts. Tests pass a fake; `open-world.ts` opens the real one. */
export interface World {
  readonly home: string
  readonly platform: string
  /** Variables a shell of the agent would know. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where an absolute path leads, link by link, also when its last parts do not exist. */
  resolve(path: string): ResolvedPath
  /** Names in a directory, not more than a limit; null when it is not a directory. */
  list(directory: string): readonly string[] | null
  /** null when it cannot be read or is longer. */
  readText(path: string, maxBytes: number): string | null
  /** Words that start Gantry's program from any shell; absent or null when they are not known. */
  program?(): readonly string[] | null
  /** Directories and files that are the guard's own or steer the agent's hooks; absolute real paths. */
  readonly own: readonly string[]
}

export type ResolvedPath = Resolved

/** The path `which` finds, or the name of the program. */
export function programPath(name: string, { env, resolve }: World): string {
  if (name.includes('/') || name.includes('\0')) return name
  const places = (env.PATH ?? '').split(delimiter).filter((place) => place.startsWith('/'))
  const found = places.find((place) => resolve(`${place}/${name}`).kind === 'file')
  return found === undefined ? name : `${found}/${name}`
}
