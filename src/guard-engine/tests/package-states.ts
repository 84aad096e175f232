import { dirname, join } from 'node:path'
import { fileHash } from '../../io/content-hash.ts'
import { namesIn } from '../../io/directory.ts'
import { changedAtMs, entryKind, pathKind } from '../../io/path-kind.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { realPath } from '../../io/resolve-links.ts'
import { sha256 } from '../../io/sha256.ts'

/** What was known of packages before, and since when a file of one counts as changed. */
export interface KnownPackages {
  readonly earlier: Readonly<Record<string, string>>
  readonly sinceMs: number
}

interface Place {
  readonly root: string
  readonly home: string
}

const maxFiles = 4_000
const maxManifestBytes = 1024 * 1024

/** Test runners, and what they assert with. */
const runnerPackages = /^(?:vitest|jest|jest-.*|expect|mocha|chai|ava|tap|playwright|playwright-core)$/

/**
 * The installed test runners with their version and a hash of their files, by name. What no file of it changed since is known already, so
 * that after the start of a session only times are read.
 */
export function packageStates(place: Place, known?: KnownPackages): Readonly<Record<string, string>> {
  const states = packagesIn(place).flatMap((directory): (readonly [string, string])[] => {
    const key = `package ${directory}`
    const files = filesIn(directory)
    if (files.length === 0) return []
    const was = known !== undefined && Object.hasOwn(known.earlier, key) ? known.earlier[key] : undefined
    if (was !== undefined && files.every((path) => changedAtMs(path) <= (known?.sinceMs ?? 0)))
      return [[key, was]]
    const hashes = files.map((path) => `${path.slice(directory.length)} ${fileHash(path)}`)
    const hash = sha256(hashes.join('\n')).slice(0, 12)
    return [[key, `package ${directory.split('/').at(-1)} ${versionOf(directory)} (${hash})`]]
  })
  return Object.fromEntries(states)
}

/** The first file of a runner that was written since then; null when none was. */
export function runnerWrittenSince(place: Place, sinceMs: number): string | null {
  for (const directory of packagesIn(place)) {
    const found = filesIn(directory).find((path) => changedAtMs(path) > sinceMs)
    if (found !== undefined) return found
  }
  return null
}

function versionOf(directory: string): string {
  const text = ['package.json', '_version.py']
    .map((name) => readShortText(join(directory, name), maxManifestBytes))
    .find((each) => each !== null)
  return /\bversion["']?\s*[:=].*?["']([^"']+)["']/.exec(text ?? '')?.[1] ?? '0'
}

function packagesIn({ root, home }: Place): readonly string[] {
  const modules = join(root, 'node_modules')
  const own = namesBelow(modules).filter((name) => runnerPackages.test(name))
  // pnpm keeps a package beside those that it needs.
  const places = new Set([modules, ...own.map((name) => dirname(realPath(join(modules, name))))])
  const packages = [...places].flatMap((place) =>
    namesBelow(place).flatMap((name) => {
      if (runnerPackages.test(name)) return [join(place, name)]
      const isScope = /^@(?:vitest|jest|playwright)$/.test(name)
      return isScope ? namesBelow(join(place, name)).map((each) => join(place, name, each)) : []
    }),
  )
  const versions = join(home, '.pyenv/versions')
  const libraries = [
    ...[join(root, '.venv/lib'), join(root, 'venv/lib'), join(home, '.local/lib')],
    ...namesBelow(versions).map((name) => join(versions, name, 'lib')),
  ].flatMap((library) => namesBelow(library).map((name) => join(library, name, 'site-packages')))
  const pythons = libraries.flatMap((place) =>
    ['_pytest', 'pytest', 'pluggy'].map((name) => join(place, name)),
  )
  return [...new Set([...packages, ...pythons].map(realPath))]
}

/** A name such as `node_modules` may also be a file. */
export function namesBelow(path: string): readonly string[] {
  return pathKind(path) === 'directory' ? namesIn(path) : []
}

function filesIn(directory: string): readonly string[] {
  const found: string[] = []
  const visit = (below: string): void => {
    for (const name of namesBelow(below)) {
      const path = join(below, name)
      if (found.length >= maxFiles || /^(?:node_modules|__pycache__|\..*)$/.test(name)) continue
      const kind = entryKind(path)
      if (kind === 'directory') visit(path)
      else if (kind === 'file' && /\.(?:[cm]?js|py|json)$/.test(name)) found.push(path)
    }
  }
  visit(directory)
  return found.sort()
}
