import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { isAbsolute, join, sep } from 'node:path'
import { errnoOf } from './fs-error.ts'
import { joinPath, listDirectory, type Path, showPath } from './list-directory.ts'

/** Where an untrusted path leads. `path` is absolute and has no links below the root. */
export type Inside =
  | { readonly kind: 'inside'; readonly path: string }
  | { readonly kind: 'outside'; readonly reason: string }
  | { readonly kind: 'missing'; readonly path: string }

const maxLinks = 40

/**
 * Resolves a path step by step, as the system would, and stops where a step leaves `root`: an absolute path, a `..` above
 * the root, or a link at any place. `root` itself is trusted. Nothing is opened.
 */
export function resolveInside(root: string, relative: string): Inside {
  if (relative.includes('\0')) return outside('it contains a NUL byte')
  if (isAbsolute(relative)) return outside('it is an absolute path')
  const waiting = steps(relative).reverse()
  const done: string[] = []
  let links = 0
  let missing = false
  for (let step = waiting.pop(); step !== undefined; step = waiting.pop()) {
    if (step === '..') {
      if (done.pop() === undefined) return outside(`it leads out of ${root}`)
      continue
    }
    done.push(step)
    if (missing) continue
    const here = join(root, ...done)
    const found = look(here)
    if (found === 'other') continue
    if (found === 'missing') {
      missing = true
      continue
    }
    if (found === 'hidden') return outside(`${done.join('/')} cannot be looked at`)
    links += 1
    if (links > maxLinks) return outside('its links form a loop')
    const target = readlinkSync(here)
    const below = isAbsolute(target) ? belowRoot(root, target) : target
    if (below === undefined) return outside(`the link ${done.join('/')} leads to ${target}`)
    if (isAbsolute(target)) done.length = 0
    else done.pop()
    waiting.push(...steps(below).reverse())
  }
  const path = join(root, ...done)
  return missing ? { kind: 'missing', path } : { kind: 'inside', path }
}

function outside(reason: string): Inside {
  return { kind: 'outside', reason }
}

function steps(path: string): string[] {
  return path.split(sep === '\\' ? /[\\/]/ : '/').filter((step) => step !== '' && step !== '.')
}

function look(path: string): 'link' | 'missing' | 'hidden' | 'other' {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return 'missing'
    return stats.isSymbolicLink() ? 'link' : 'other'
  } catch (cause) {
    return ['ENOTDIR', 'ENOENT', 'ENAMETOOLONG'].includes(errnoOf(cause) ?? '') ? 'missing' : 'hidden'
  }
}

/** A link may name the root by its own spelling or by its real one. */
function belowRoot(root: string, target: string): string | undefined {
  for (const spelling of [root, realpathSync.native(root)]) {
    if (target === spelling) return ''
    if (target.startsWith(spelling + sep)) return target.slice(spelling.length)
  }
  return undefined
}

/** The first link below `root` that leads out of it, as `copyTree` would refuse it; null when every link stays inside. */
export function escapingLink(root: string, exclude: (path: string) => boolean = () => false) {
  const waiting: Path[] = ['']
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    for (const entry of listDirectory(below === '' ? root : joinPath(root, below))) {
      const path = below === '' ? entry.name : joinPath(below, entry.name)
      if (exclude(showPath(path))) continue
      if (entry.isDirectory()) waiting.push(path)
      // A link whose name is not text is refused when it is copied.
      if (!entry.isSymbolicLink() || typeof path !== 'string') continue
      const end = resolveInside(root, path)
      if (end.kind === 'outside') return { path, reason: end.reason }
    }
  }
  return null
}
