import { posix } from 'node:path'
import type { World } from '../../shell/world.ts'
import { fold, isInside } from '../seal/own-match.ts'
import type { OpaquePart } from '../targets.ts'
import { nearestArea, pathRefusal, quotedName, type WriteLimits } from './write-limits.ts'

/** What cannot be judged beforehand is refused when it names a path that must not be written; null when it does not. */
export function opaqueRefusal(
  part: OpaquePart,
  cwd: string,
  limits: WriteLimits,
  world: World,
): string | null {
  const cannot = `the call cannot be judged beforehand (${part.why.slice(0, 200)})`
  if (part.exact === true) {
    const why = nameRefusal(part.text, cwd, limits, world)
    return why === null ? null : `${quotedName(part.text)} must not be written: ${why}, and ${cannot}.`
  }
  const why = part.shape === undefined ? null : shapeRefusal(part.shape, limits, world)
  if (why !== null) return `${quotedName(part.written ?? part.text)} must not be written: ${why}.`
  const named = keptName(part.text, limits)
  return named === undefined ? null : `${quotedName(named)} is named, and ${cannot}.`
}

function nameRefusal(name: string, cwd: string, limits: WriteLimits, world: World): string | null {
  if (name === '' || name.length > 4096 || /[\0\s]/.test(name)) return null
  const { real, kind } = world.resolve(name.startsWith('/') ? name : `${cwd}/${name}`)
  // A bare word may be anything; a path out of the project counts where its directory exists.
  const isMeant = name.includes('/') && (kind !== 'missing' || isPlace(posix.dirname(real), world))
  return isInside(real, limits.root) || (isMeant && real !== '/') ? pathRefusal(real, limits) : null
}

/** `/users` and `/api/items` in a program are addresses more often than files. */
function isPlace(directory: string, world: World): boolean {
  return directory !== '/' && world.resolve(directory).kind === 'directory'
}

/** Only the beginning of the path is known, if at all. The rest may lead on into the package, but not back in from outside. */
export function shapeRefusal(shape: string, limits: WriteLimits, world: World): string | null {
  const known = shape.split(/[\0\u0001]/)[0] ?? ''
  if (known === '') return null
  const { real } = world.resolve(known.slice(0, known.lastIndexOf('/')) || '/')
  const directory = real === '/' ? '' : real
  const mayReach =
    nearestArea(real, limits.areas)?.kind === 'confined' &&
    limits.areas.some(({ kind, path }) => kind === 'project' && isInside(path, real))
  return mayReach ? null : pathRefusal(posix.normalize(`${directory}/x`), limits)
}

/** By its path or, from the root, by its name. A name that could be any word counts only with a slash after it. */
function keptName(text: string, { root, areas }: WriteLimits): string | undefined {
  const folded = fold(text)
  return areas
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
