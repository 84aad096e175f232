import { dirname, join, relative } from 'node:path'
import { fileHash } from '../../io/content-hash.ts'
import { namesIn } from '../../io/directory.ts'
import { changedAtMs, createdAtMs, entryKind, pathKind } from '../../io/path-kind.ts'
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
  const states = packagesIn(place).flatMap(({ path, directory }): (readonly [string, string])[] => {
    const key = `package ${relative(place.root, path)}`
    const { files, directories } = entriesIn(directory)
    if (files.length === 0) return []
    const was = known !== undefined && Object.hasOwn(known.earlier, key) ? known.earlier[key] : undefined
    // A directory shows that a file is gone or was moved there with its old time, and the path that it leads elsewhere.
    const isSame = [path, ...directories, ...files].every(
      (each) => changedAtMs(each) <= (known?.sinceMs ?? 0),
    )
    if (was !== undefined && isSame) return [[key, was]]
    const hashes = files.map((each) => `${each.slice(directory.length)} ${fileHash(each)}`)
    const hash = sha256(hashes.join('\n')).slice(0, 12)
    return [[key, `package ${path.split('/').at(-1)} ${versionOf(directory)} (${hash})`]]
  })
  return Object.fromEntries(states)
}

/** The first file or directory of a runner that was written or moved since then; null when none was. */
export function runnerWrittenSince(place: Place, sinceMs: number): string | null {
  // The first start of a Python runner makes this directory.
  const isCompiled = (path: string): boolean =>
    path.includes('/site-packages/') && createdAtMs(join(path, '__pycache__')) > sinceMs
  for (const { directory } of packagesIn(place)) {
    const { files, directories } = entriesIn(directory)
    const found = [...files, ...directories].find((path) => changedAtMs(path) > sinceMs && !isCompiled(path))
    if (found !== undefined) return found
  }
  return null
}

function versionOf(directory: string): string {
  const text = ['package.json', '_version.py', '../_pytest/_version.py']
    .map((name) => readShortText(join(directory, name), maxManifestBytes))
    .find((each) => each !== null)
  return /\bversion["']?\s*[:=].*?["']([^"']+)["']/.exec(text ?? '')?.[1] ?? '0'
}

/** Where each runner is looked up, and its real directory. */
function packagesIn({ root, home }: Place): readonly { readonly path: string; readonly directory: string }[] {
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
  const found = new Map<string, string>()
  for (const path of [...packages, ...pythons]) {
    const directory = realPath(path)
    if (!found.has(directory)) found.set(directory, path)
  }
  return [...found].map(([directory, path]) => ({ path, directory }))
}

/** A name such as `node_modules` may also be a file. */
export function namesBelow(path: string): readonly string[] {
  return pathKind(path) === 'directory' ? namesIn(path) : []
}

function entriesIn(top: string): {
  readonly files: readonly string[]
  readonly directories: readonly string[]
} {
  const files: string[] = []
  const directories: string[] = []
  const visit = (directory: string): void => {
    directories.push(directory)
    for (const name of namesBelow(directory)) {
      const path = join(directory, name)
      if (files.length >= maxFiles || /^(?:node_modules|__pycache__|\..*)$/.test(name)) continue
      const kind = entryKind(path)
      if (kind === 'directory') visit(path)
      else if (kind === 'file' && /\.(?:[cm]?js|py|json)$/.test(name)) files.push(path)
    }
  }
  visit(top)
  return { files: files.sort(), directories }
}
