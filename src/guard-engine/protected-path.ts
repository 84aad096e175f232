import { posix } from 'node:path'
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
