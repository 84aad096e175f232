import { basename, extname } from 'node:path/posix'
import { isProtectedName, isSource } from '../../guard-engine/protected-path.ts'
import { listFiles, readTextInside } from '../../io/files.ts'
import { gitFiles } from '../../io/git-files.ts'

/** The files of a repository that a Scout may see. Content is read on demand and cached. */
export type SourceTree = Awaited<ReturnType<typeof readSourceTree>>

const maxFiles = 20_000
const maxBytes = 512 * 1024

/** The files git would track, or all files without git. Limited to `packageDir` when the task is confined to it. */
export async function readSourceTree(root: string, packageDir: string | null) {
  const isWanted = (path: string): boolean =>
    !isExcluded(path) && (packageDir === null || path.startsWith(`${packageDir}/`))
  const all = (await gitFiles(root)) ?? listFiles(root, { exclude: (path) => isExcluded(path) })
  const wanted = all.filter(isWanted).sort()
  const texts = new Map<string, string | null>()
  const text = (path: string): string | null => {
    const known = texts.get(path)
    if (known !== undefined) return known
    const read = readTextInside(root, path, { maxBytes })
    const found = read.kind === 'text' && !read.text.includes('\0') ? read.text : null
    texts.set(path, found)
    return found
  }
  const paths = wanted.slice(0, maxFiles)
  const known = new Set(paths)
  return {
    /** Relative to the repository, with `/`, sorted. */
    paths,
    /** Number of files left out because there are too many. */
    omitted: wanted.length - paths.length,
    has: (path: string): boolean => known.has(path),
    /** null for a file that is binary, too large or missing. */
    text: (path: string): string | null => (known.has(path) ? text(path) : null),
    /** null when there is no such file. */
    lineCount: (path: string): number | null => {
      if (!known.has(path)) return null
      const found = text(path)
      return found === null ? null : linesOf(found)
    },
  }
}

function linesOf(text: string): number {
  if (text === '') return 0
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
}

const binary = new Set(
  `png jpg jpeg gif ico svg bmp webp tiff tif
  exe dll so dylib a o obj pyc pyo class wasm
  zip tar gz bz2 xz 7z rar jar war ear
  ttf otf woff woff2 eot
  mp3 mp4 avi mkv mov wav flac ogg
  pdf doc docx xls xlsx ppt pptx
  db sqlite sqlite3
  bin dat pickle pkl npy npz parquet feather`.split(/\s+/),
)

const directories = new Set(
  `.git .svn .hg node_modules __pycache__ .tox .nox .venv venv env .env virtualenv .mypy_cache .pytest_cache .ruff_cache .coverage htmlcov
  dist build target .next .nuxt out .idea .vscode __MACOSX`.split(/\s+/),
)

const systemFiles = new Set(['.ds_store', 'thumbs.db', 'desktop.ini'])

/** What the guard protects, and what a project may change but no model has to see. */
function isSecret(name: string): boolean {
  const lower = name.toLowerCase()
  return (
    isProtectedName(name) ||
    /\.(?:env|crt|p12|pfx)$|^id_dsa|^\.(?:htpasswd|npmrc|pypirc)$/.test(lower) ||
    (/credentials|secret/.test(lower) && !isSource.test(lower))
  )
}

/** Whether a file is hidden from Scouts: binary, a secret, or a dependency. `path` is relative, with `/`. */
export function isExcluded(path: string): boolean {
  const parts = path.split('/')
  if (path === '' || path.startsWith('/') || parts.includes('..')) return true
  if (parts.slice(0, -1).some((part) => directories.has(part) || isSecret(part))) return true
  const name = basename(path)
  return (
    binary.has(extname(name).slice(1).toLowerCase()) || systemFiles.has(name.toLowerCase()) || isSecret(name)
  )
}

type LocatedPath =
  | { readonly kind: 'right' }
  | { readonly kind: 'repaired'; readonly path: string }
  | { readonly kind: 'unknown' }

/** Whether a model's path is in the tree, or the only path it can mean. */
export function locate(tree: SourceTree, given: string): LocatedPath {
  if (tree.has(given)) return { kind: 'right' }
  const plain = given
    .trim()
    .replaceAll('\\', '/')
    .replace(/^(?:file:\/\/)?\/workspace\//, '')
    .replace(/^(?:[ab]|\.)\//, '')
    .replace(/[:#]L?\d+(?:[-:,]L?\d+)?$/, '')
  if (tree.has(plain)) return { kind: 'repaired', path: plain }
  const lower = plain.toLowerCase()
  const meant = tree.paths.filter((path) => path.toLowerCase() === lower)
  const only = meant.length === 1 ? meant : tree.paths.filter((path) => path.endsWith(`/${plain}`))
  const [path] = only
  return only.length === 1 && path !== undefined && plain !== ''
    ? { kind: 'repaired', path }
    : { kind: 'unknown' }
}
