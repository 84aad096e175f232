import { ownProgram } from '../io/find-program.ts'
import { platform } from '../io/host.ts'
import { directoryNames } from '../io/list-directory.ts'
import { readShortText } from '../io/read-short-text.ts'
import { resolveLinks, resolveName } from '../io/resolve-links.ts'
import type { ResolvedPath, World } from '../shell/world.ts'

export interface WorldOptions {
  /** The project. Pinned so that lookups stay the same within one event. */
  readonly root: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly own: readonly string[]
}

/** The disk as rules see it. Lookups are cached, so open one for every event. */
export function openWorld({ root, home, env, own }: WorldOptions): World {
  const resolved = new Map<string, ResolvedPath>()
  const listed = new Map<string, readonly string[] | null>()
  const texts = new Map<string, string | null>()
  /** Paths of files. They have no entries, so listing them would waste a system call. */
  const leaves = new Set<string>()
  resolve(root)
  return { home, env, own, platform, resolve, list, readText, program: () => ownProgram() }

  function readText(path: string, maxBytes: number): string | null {
    const key = `${maxBytes} ${path}`
    const known = texts.get(key)
    if (known !== undefined) return known
    const text = readShortText(path, maxBytes)
    texts.set(key, text)
    return text
  }

  function resolve(path: string): ResolvedPath {
    const known = resolved.get(path)
    if (known !== undefined) return known
    const found = look(path)
    resolved.set(path, found)
    return found
  }

  /** A path below a directory without links needs no second lookup, and nothing exists below a missing path. */
  function look(path: string): ResolvedPath {
    const at = path.lastIndexOf('/')
    const parent = at > 0 ? resolve(path.slice(0, at)) : null
    const name = path.slice(at + 1)
    if (parent?.kind === 'directory') return resolveName(parent.real, name)
    const isBelowNothing = parent?.kind === 'missing' && name !== '' && name !== '.' && name !== '..'
    return isBelowNothing ? { ...parent, real: `${parent.real}/${name}` } : resolveLinks(path)
  }

  function list(directory: string): readonly string[] | null {
    if (leaves.has(directory)) return null
    const known = listed.get(directory)
    if (known !== undefined) return known
    const entries = directoryNames(directory, maxNames)
    const names = entries?.map(({ name }) => name) ?? null
    listed.set(directory, names)
    const prefix = directory.endsWith('/') ? directory : `${directory}/`
    for (const { name, leaf } of entries ?? []) if (leaf) leaves.add(`${prefix}${name}`)
    return names
  }
}

const maxNames = 10_000
