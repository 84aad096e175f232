import { posix } from 'node:path'
import type { World } from '../../shell/world.ts'
import { fold, isInside } from '../seal/own-match.ts'
import type { OpaquePart } from '../targets.ts'
import { shown } from './shown.ts'
import { nearestGround, type WriteBounds, whyPath } from './write-bounds.ts'

/** What cannot be judged beforehand is refused when it names what is not to be written; null when it does not. */
export function whyOpaque(part: OpaquePart, cwd: string, bounds: WriteBounds, world: World): string | null {
  const cannot = `the call cannot be judged beforehand (${part.why.slice(0, 200)})`
  if (part.exact === true) {
    const why = whyName(part.text, cwd, bounds, world)
    return why === null ? null : `${shown(part.text)} must not be written: ${why}, and ${cannot}.`
  }
  const why = part.shape === undefined ? null : whyShape(part.shape, bounds, world)
  if (why !== null) return `${shown(part.written ?? part.text)} must not be written: ${why}.`
  const named = keptName(part.text, bounds)
  return named === undefined ? null : `${shown(named)} is named, and ${cannot}.`
}

function whyName(name: string, cwd: string, bounds: WriteBounds, world: World): string | null {
  if (name === '' || name.length > 4096 || /[\0\s]/.test(name)) return null
  const { real, kind } = world.resolve(name.startsWith('/') ? name : `${cwd}/${name}`)
  // A bare word may be anything; a path that leads out is meant as one where there is such a place.
  const isMeant = name.includes('/') && (kind !== 'missing' || isPlace(posix.dirname(real), world))
  return isInside(real, bounds.root) || (isMeant && real !== '/') ? whyPath(real, bounds) : null
}

/** `/users` and `/api/items` in a program are addresses more often than files. */
function isPlace(directory: string, world: World): boolean {
  return directory !== '/' && world.resolve(directory).kind === 'directory'
}

/**
 * Only the beginning of the path is known, or nothing of it: what follows may still lead to the package, but not back in from
 * outside.
 */
export function whyShape(shape: string, bounds: WriteBounds, world: World): string | null {
  const known = shape.split(/[\0\u0001]/)[0] ?? ''
  if (known === '') return null
  const { real } = world.resolve(known.slice(0, known.lastIndexOf('/')) || '/')
  const directory = real === '/' ? '' : real
  const mayReach =
    nearestGround(real, bounds.grounds)?.kind === 'confined' &&
    bounds.grounds.some(({ kind, path }) => kind === 'project' && isInside(path, real))
  return mayReach ? null : whyPath(posix.normalize(`${directory}/x`), bounds)
}

/** By its path or, from the root, by its name; a name that could be any word counts with a slash behind it. */
function keptName(text: string, { root, grounds }: WriteBounds): string | undefined {
  const folded = fold(text)
  return grounds
    .filter(({ kind }) => kind === 'kept')
    .flatMap(({ path }) =>
      isInside(path, root) && path !== root ? [path, path.slice(root.length + 1)] : [path],
    )
    .find((name) => names(folded, fold(name)))
}

function names(text: string, name: string): boolean {
  const isWord = /^\w+$/.test(name)
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    const before = isWord ? /(?:^|[^\w./-])(?:\.\/)?$/ : /(?:^|[^\w.-])$/
    const after = isWord ? /^\// : /^(?![\w.-])/
    if (
      before.test(text.slice(Math.max(0, at - 3), at)) &&
      after.test(text.slice(at + name.length, at + name.length + 1))
    )
      return true
  }
  return false
}
