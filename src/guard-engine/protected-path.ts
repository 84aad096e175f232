import { posix } from 'node:path'
import type { World } from '../shell/world.ts'
import { skipsDirectory } from './generated-directories.ts'
import { globOf } from './glob-of.ts'
import { defaultSettings } from './settings/settings.ts'

/** Which protected pattern a path matches. */
export interface ProtectedPaths {
  /** The pattern that matches an absolute path by its literal name; null when none does. */
  patternOf(path: string): string | null
  /** The same for the names in one directory, for a search through many. */
  inDirectory(directory: string): (name: string) => string | null
  /** The pattern that matches a file name in any directory. */
  patternOfName(name: string): string | null
}

/**
 * Patterns from the settings. Without a slash they match a file name anywhere, with one the path from the project root (or an absolute
 * path, if they start with `/` or `~/`), and with a trailing slash everything in that directory. Case and Unicode normalization are
 * ignored. An invalid glob is taken as a name. `.env.*` and `credentials.*` spare what is not a secret: see `sparedBy`.
 */
export function protectedPaths(patterns: readonly string[], root: string, home: string): ProtectedPaths {
  const key = `${root}\0${home}`
  const cached = compiled.get(patterns)
  if (cached?.key === key) return cached.paths
  const paths = compile(patterns, fold(root), fold(home))
  compiled.set(patterns, { key, paths })
  return paths
}

/** Whether the guard protects a file of this name by default. */
export function isProtectedName(name: string): boolean {
  return (
    protectedPaths(defaultSettings.fileProtection.protectedPatterns, '/', '/').patternOfName(name) !== null
  )
}

/** A hook has one settings object, so the patterns are compiled once. */
const compiled = new WeakMap<readonly string[], { readonly key: string; readonly paths: ProtectedPaths }>()

interface Compiled {
  readonly pattern: string
  matches(path: string, relative: string | null): boolean
}

function compile(patterns: readonly string[], root: string, home: string): ProtectedPaths {
  const named: { readonly pattern: string; readonly matches: (name: string) => boolean }[] = []
  const placed: Compiled[] = []
  for (const pattern of patterns) {
    const text = fold(pattern).replace(/^(?:\.\/)+/, '')
    const plain = text.replace(/\/+$/, '')
    if (plain === '') continue
    if (!text.includes('/')) named.push({ pattern, matches: sparing(plain, globOrName(plain)) })
    else if (text.endsWith('/')) placed.push({ pattern, matches: directory(plain, home) })
    else placed.push({ pattern, matches: file(plain, home) })
  }
  return { patternOf, inDirectory, patternOfName }

  function patternOfName(name: string): string | null {
    const folded = fold(name)
    return named.find(({ matches }) => matches(folded))?.pattern ?? null
  }

  function patternOf(path: string): string | null {
    const normal = normalPath(path)
    return inNormal(normal.slice(0, normal.lastIndexOf('/') + 1))(normal.slice(normal.lastIndexOf('/') + 1))
  }

  function inDirectory(directory: string): (name: string) => string | null {
    return inNormal(`${normalPath(directory)}/`)
  }

  function inNormal(directory: string): (name: string) => string | null {
    const inside = directory.startsWith(`${root}/`) ? directory.slice(root.length + 1) : null
    const isTemporary = inside === null && temporary.test(directory)
    return (name) => {
      const byName = isTemporary ? null : (patternOfName(name) ?? windowsName(name))
      if (byName !== null || placed.length === 0) return byName
      const folded = fold(name)
      const relative = inside === null ? null : inside + folded
      return placed.find(({ matches }) => matches(directory + folded, relative))?.pattern ?? null
    }
  }

  function normalPath(path: string): string {
    return posix.normalize(fold(path)).replace(/\/$/, '')
  }

  function windowsName(path: string): string | null {
    return path.includes('\\') ? patternOfName(path.slice(path.lastIndexOf('\\') + 1)) : null
  }
}

/** Files there do not belong to a project. A directory in it may be another one that is mounted there. */
const temporary = /^(?:\/private)?\/tmp\/$/

export const isSource =
  /\.(?:[cm]?[jt]sx?|vue|svelte|py|pyi|rb|go|rs|java|kts?|scala|swift|c|cc|cpp|h|hpp|cs|fs|php|exs?|erl|hs|ml|clj|dart|lua|mdx?|rst|adoc)$/

/**
 * Names that two usual patterns match and that are not secrets: templates to copy, and source or documentation. A pattern of the settings
 * that names such a file in another way protects it.
 */
const sparedBy: Readonly<Record<string, RegExp>> = {
  '.env.*': /^\.env\.(?:(?:.+\.)?(?:example|sample|template|dist)|d\.[cm]?ts)$/,
  'credentials.*': new RegExp(
    String.raw`${isSource.source}|^credentials\.(?:example|sample|template|dist)\.`,
  ),
}

function sparing(pattern: string, matches: (name: string) => boolean): (name: string) => boolean {
  const spared = sparedBy[pattern]
  return spared === undefined ? matches : (name) => matches(name) && !spared.test(name)
}

function file(pattern: string, home: string): Compiled['matches'] {
  if (pattern.startsWith('~/')) {
    const inHome = globOrName(`${home}${pattern.slice(1)}`)
    return (path) => inHome(path)
  }
  const anchored = globOrName(pattern.replace(/^\//, ''))
  const absolute = pattern.startsWith('/') ? globOrName(pattern) : null
  return (path, relative) => (relative !== null && anchored(relative)) || absolute?.(path) === true
}

function directory(pattern: string, home: string): Compiled['matches'] {
  if (!pattern.includes('/')) {
    const name = globOrName(pattern)
    return (path, relative) => (relative ?? path).split('/').some((part) => name(part))
  }
  const [itself, inside] = [file(pattern, home), file(`${pattern}/**`, home)]
  return (path, relative) => itself(path, relative) || inside(path, relative)
}

function globOrName(pattern: string): (text: string) => boolean {
  if (!/[*?[\](){}!+@|\\]/.test(pattern)) return (text) => text === pattern
  return oneStar(pattern) ?? anyGlob(pattern)
}

/** `*.pem`, `.env.*`: matched like a glob. Nearly all patterns are like this, and compiling a glob takes a hook longer than using it. */
function oneStar(pattern: string): ((text: string) => boolean) | null {
  const [head = '', tail = '', ...more] = pattern.split('*')
  if (more.length > 0 || !/^[\w.-]*[\w-][\w.-]*$/.test(head + tail)) return null
  const least = head.length + tail.length
  return (text) =>
    text === pattern ||
    (text.length >= least && text.startsWith(head) && text.endsWith(tail) && !text.includes('/'))
}

function anyGlob(pattern: string): (text: string) => boolean {
  const glob = globOf(pattern)
  return (text) => text === pattern || glob?.(text) === true
}

/** Characters that some file systems ignore when they compare names. */
const ignorable = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g

/** One spelling for names that a file system may treat as equal. */
function fold(text: string): string {
  const plain = /^[\x20-\x7e]*$/.test(text)
    ? text
    : text.normalize('NFC').replaceAll(ignorable, '').toUpperCase()
  return plain.toLowerCase()
}

/** How many entries may still be read for one call. */
export interface ReadBudget {
  left: number
}

/** Files below a directory that match `wanted`, nearest first. The search is bounded and follows no links. */
export function protectedBelow(
  directory: string,
  world: World,
  wanted: (path: string) => boolean,
  budget: ReadBudget,
): readonly string[] {
  const start = world.resolve(directory)
  if (start.kind !== 'directory' || start.real.split('/').some((part) => skipsDirectory(part))) return []
  const found: string[] = []
  const queue = [{ path: start.real, depth: 0 }]
  for (let at = queue.shift(); at !== undefined && budget.left > 0; at = queue.shift()) {
    for (const name of world.list(at.path) ?? []) {
      const path = at.path === '/' ? `/${name}` : `${at.path}/${name}`
      budget.left -= 1
      if (wanted(path)) found.push(path)
      if (found.length >= maxFound) return found
      if (at.depth < maxDepth && !skipsDirectory(name) && isOwnDirectory(path, world))
        queue.push({ path, depth: at.depth + 1 })
    }
  }
  return found
}

const maxFound = 50
const maxDepth = 10

/** A link to a directory is not entered. */
function isOwnDirectory(path: string, world: World): boolean {
  return world.list(path) !== null && world.resolve(path).real === path
}

/** A protected name in a text that cannot be parsed, and its pattern; null when there is none. */
export function namedIn(
  text: string,
  paths: ProtectedPaths,
  {
    cwd,
    isThere,
    ending = '',
  }: {
    readonly cwd: string
    /** Whether a file exists at that path. */
    isThere(path: string): boolean
    /** What the name must end in. */
    readonly ending?: string
  },
): { readonly name: string; readonly pattern: string } | null {
  const seen = new Set<string>()
  let looks = 0
  for (const variant of [text, undone(text)])
    for (const piece of variant.split(/[\s'"`;|&<>()=,:{}[\]$!*#\\^+?%@~]+/)) {
      if (piece.length > 4096) continue
      for (const name of [piece, piece.replace(/[.,?]+$/, '').replace(/\/+$/, '')]) {
        if (name === '' || seen.has(name)) continue
        seen.add(name)
        if (!name.endsWith(ending)) continue
        const pattern = paths.patternOf(name.startsWith('/') ? name : `${cwd}/${name}`)
        if (pattern === null) continue
        if (!isCodeLike(name, pattern)) return { name, pattern }
        looks += 1
        if (looks < maxLooks && isThere(name.startsWith('/') ? name : `${cwd}/${name}`))
          return { name, pattern }
      }
    }
  return null
}

const maxLooks = 50

/** `options.key` and `jq .key` look like file names to a pattern such as `*.key`. */
function isCodeLike(name: string, pattern: string): boolean {
  return /[*?[]/.test(pattern) && !pattern.startsWith('.') && /^[\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(name)
}

/** Removes quotes and escapes. */
function undone(text: string): string {
  return text
    .replaceAll(
      /\\x([\da-fA-F]{2})|\\u([\da-fA-F]{4})|\\([0-7]{3})/g,
      (_, hex?: string, unicode?: string, octal?: string) =>
        String.fromCharCode(
          octal === undefined ? Number.parseInt(hex ?? unicode ?? '0', 16) : Number.parseInt(octal, 8),
        ),
    )
    .replaceAll(/\\\n/g, '')
    .replaceAll(/\$?["'`\\]/g, '')
}
