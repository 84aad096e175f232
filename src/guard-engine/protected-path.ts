import { posix } from 'node:path'
import type { World } from '../shell/world.ts'
import { globOf } from './glob-of.ts'

/** Which protected pattern a path matches. */
export interface ProtectedPaths {
  /** Of an absolute path, by its name as it stands: null when none does. */
  patternOf(path: string): string | null
  /** Of a file's name alone, wherever it stands. */
  patternOfName(name: string): string | null
}

/**
 * Patterns as the settings have them. Without a slash they match the name of a file anywhere, with one the path from the project's
 * root (or an absolute path, where they begin with `/` or `~/`), and with one at the end everything in that directory. Case and the
 * ways Unicode spells the same letter make no difference. One that is no valid glob is taken as a name.
 */
export function protectedPaths(patterns: readonly string[], root: string, home: string): ProtectedPaths {
  const key = `${root}\0${home}`
  const cached = compiled.get(patterns)
  if (cached?.key === key) return cached.paths
  const paths = compile(patterns, fold(root), fold(home))
  compiled.set(patterns, { key, paths })
  return paths
}

/** The settings of a hook are one object; the patterns are compiled once. */
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
    if (!text.includes('/')) named.push({ pattern, matches: globOrName(plain) })
    else if (text.endsWith('/')) placed.push({ pattern, matches: directory(plain, home) })
    else placed.push({ pattern, matches: file(plain, home) })
  }
  return { patternOf, patternOfName }

  function patternOfName(name: string): string | null {
    const folded = fold(name)
    return named.find(({ matches }) => matches(folded))?.pattern ?? null
  }

  function patternOf(path: string): string | null {
    const folded = fold(path)
    const normal = posix.normalize(folded).replace(/\/$/, '')
    const byName = patternOfName(normal.slice(normal.lastIndexOf('/') + 1)) ?? windowsName(normal)
    if (byName !== null || placed.length === 0) return byName
    const inside = normal.startsWith(`${root}/`) ? normal.slice(root.length + 1) : null
    return placed.find(({ matches }) => matches(normal, inside))?.pattern ?? null
  }

  function windowsName(path: string): string | null {
    return path.includes('\\') ? patternOfName(path.slice(path.lastIndexOf('\\') + 1)) : null
  }
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

/** `*.pem`, `.env.*`: as a glob has it. Nearly all patterns are such, and to compile one takes a hook longer than to ask it. */
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

/** Characters some file systems leave out when they compare names. */
const ignorable = /[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g

/** One spelling for names a file system may take for the same. */
function fold(text: string): string {
  const plain = /^[\x20-\x7e]*$/.test(text)
    ? text
    : text.normalize('NFC').replaceAll(ignorable, '').toUpperCase()
  return plain.toLowerCase()
}

/** Directories that are made by tools and can be made again: what looks protected in them is not the project's own. */
const generated = new Set(
  'node_modules bower_components .git .hg .svn .venv venv site-packages __pycache__ .tox .nox .mypy_cache .pytest_cache .ruff_cache dist build target out coverage .next .nuxt .svelte-kit .turbo .cache .parcel-cache .gradle vendor .terraform .yarn .pnpm-store'.split(
    ' ',
  ),
)

/** How many entries may still be looked at for one call. */
export interface LookBudget {
  left: number
}

/** Files below a directory for which `wanted` holds, nearest first; the look is bounded and follows no link. */
export function protectedBelow(
  directory: string,
  world: World,
  wanted: (path: string) => boolean,
  budget: LookBudget,
): readonly string[] {
  const start = world.resolve(directory)
  if (start.kind !== 'directory' || isGenerated(start.real)) return []
  const found: string[] = []
  const queue = [{ path: start.real, depth: 0 }]
  for (let at = queue.shift(); at !== undefined && budget.left > 0; at = queue.shift()) {
    for (const name of world.list(at.path) ?? []) {
      const path = at.path === '/' ? `/${name}` : `${at.path}/${name}`
      budget.left -= 1
      if (wanted(path)) found.push(path)
      if (found.length >= maxFound) return found
      if (at.depth < maxDepth && !generated.has(name) && isOwnDirectory(path, world))
        queue.push({ path, depth: at.depth + 1 })
    }
  }
  return found
}

const maxFound = 50
const maxDepth = 10

function isGenerated(path: string): boolean {
  return path.split('/').some((part) => generated.has(part))
}

/** A link to a directory is not gone into. */
function isOwnDirectory(path: string, world: World): boolean {
  return world.list(path) !== null && world.resolve(path).real === path
}

/** A protected name in a text nobody can follow, and its pattern; null when there is none. */
export function namedIn(
  text: string,
  paths: ProtectedPaths,
  {
    cwd,
    isThere,
    ending = '',
  }: {
    readonly cwd: string
    /** Is there a file of that path? */
    isThere(path: string): boolean
    /** What the name must end in to be the one that is meant. */
    readonly ending?: string
  },
): { readonly name: string; readonly pattern: string } | null {
  const seen = new Set<string>()
  let looks = 0
  for (const variant of [text, undone(text)])
    for (const piece of variant.split(/[\s'"`;|&<>()=,:{}[\]$!*#\\^+?%@~]+/)) {
      for (const name of [piece, piece.replace(/[.,?]+$/, '').replace(/\/+$/, '')]) {
        if (name === '' || name.length > 4096 || seen.has(name)) continue
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

/** `options.key` and `jq .key` look like the name of a file to a pattern such as `*.key`. */
function isCodeLike(name: string, pattern: string): boolean {
  return /[*?[]/.test(pattern) && !pattern.startsWith('.') && /^[\w$]*(?:\.[A-Za-z_$][\w$]*)+$/.test(name)
}

/** Without quotes and escapes. */
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
