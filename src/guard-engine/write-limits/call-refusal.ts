import { posix } from 'node:path'
import type { ToolCall } from '../../core/hook-event.ts'
import { freshName, withoutUnknownParts } from '../../shell/unknown-part.ts'
import type { ResolvedPath, World } from '../../shell/world.ts'
import { fold, isInside } from '../seal/guarded-path-matcher.ts'
import {
  type CallTargets,
  callTargets,
  type FilledDirectory,
  type OpaquePart,
  type WriteTarget,
} from '../targets.ts'
import { gitRefusal, gitToolRefusal } from './git-refusal.ts'
import { nearestArea, pathRefusal, quotedName, type WriteLimits } from './write-limits.ts'

/** Why a call is denied: it would write outside the write limits. null when it is allowed. The same for every tool. */
export function callRefusal(call: ToolCall, cwd: string, limits: WriteLimits, world: World): string | null {
  const { writes, into = [], opaque, runs } = callTargets(call, cwd, world)
  for (const target of writes) {
    // Where mktemp puts its files is only known when it runs.
    if (target.path.includes(`/${freshName}`)) continue
    const why = targetRefusal(target, limits, world)
    if (why !== null && !isUnlikelyGuess(target, opaque, world)) return why
  }
  for (const directory of into) {
    const why = directoryRefusal(directory, limits, world)
    if (why !== null) return why
  }
  for (const part of opaque) {
    const why = opaqueRefusal(part, cwd, limits, world)
    if (why !== null) return why
  }
  if (limits.git === 'all') return null
  for (const words of runs) {
    const why = gitRefusal(words)
    if (why !== null) return why
  }
  return call.action.kind === 'unknown' ? gitToolRefusal(call.tool) : null
}

/**
 * `$d/x` is `/x` when the variable is empty, which has destroyed real files. If no such file exists, it is read as a name in an unknown
 * directory.
 */
function isUnlikelyGuess(
  { path, written }: WriteTarget,
  opaque: CallTargets['opaque'],
  world: World,
): boolean {
  const isGuess = opaque.some(({ shape, written: text }) => {
    const at = shape?.search(/[\0\u0001]/) ?? -1
    return at !== -1 && text === written && withoutUnknownParts(shape?.slice(at) ?? '') === path
  })
  return isGuess && world.resolve(path).kind === 'missing'
}

/** Why no file may be created in a directory, as a sentence; null when it may. */
function directoryRefusal(
  { path, how, written }: FilledDirectory,
  limits: WriteLimits,
  world: World,
): string | null {
  const why = /[\0\u0001]/.test(path)
    ? shapeRefusal(path, limits, world)
    : pathRefusal(world.resolve(path).real, limits)
  return why === null ? null : `${quotedName(written)} must not be written to (${how}): ${why}.`
}

/** Why a file may not be written, as a sentence; null when it may. */
function targetRefusal(target: WriteTarget, limits: WriteLimits, world: World): string | null {
  const { path, below, entry = false } = target
  const written = quotedName(target.written ?? path)
  // A search changes what it finds, not the directory it searches. But it may find anything in there.
  const replaces = entry && below?.only === undefined
  const resolved = world.resolve(path)
  const real = replaces ? placeOf(path, world) : resolved.real
  // With a trailing slash, a link is followed even by a command that removes entries.
  const goesThrough = !replaces || /\/\.?["']?$/.test(target.written ?? path)
  const why =
    pathRefusal(real, limits, replaces) ??
    (goesThrough ? (pathRefusal(resolved.real, limits) ?? hardLinkRefusal(resolved, limits, world)) : null)
  if (why !== null) return `${written} must not be written: ${why}.`
  const kept = below === undefined ? undefined : keptBelow(real, below, limits, world)
  return kept === undefined
    ? null
    : `${written} must not be written as a whole: ${quotedName(kept)} is in it.`
}

/** The entry itself, not the target of a link. */
function placeOf(path: string, world: World): string {
  const plain = path.replace(/(?<=.)\/+$/, '')
  const name = posix.basename(plain)
  if (name === '' || name === '.' || name === '..') return world.resolve(plain).real
  // Not normalized: after a link, `..` is the parent of the link's target.
  const parent = world.resolve(plain.slice(0, plain.lastIndexOf('/')) || '/').real
  return `${parent === '/' ? '' : parent}/${name}`
}

/** A hard link to a kept file. */
function hardLinkRefusal({ id, links }: ResolvedPath, { areas }: WriteLimits, world: World): string | null {
  if (id === null || links < 2) return null
  for (const area of areas) if (area.kind === 'kept' && world.resolve(area.path).id === id) return area.why
  return null
}

/** A kept path that would change together with the directory around it, if the source has a file at that place. */
function keptBelow(
  real: string,
  { look, only }: NonNullable<WriteTarget['below']>,
  { root, areas }: WriteLimits,
  world: World,
): string | undefined {
  const from = world.resolve(look).real
  return [root, ...areas.filter(({ kind }) => kind === 'kept').map(({ path }) => path)].find((place) => {
    if (place === real || !isInside(place, real)) return false
    const source = `${from === '/' ? '' : from}${place.slice(real === '/' ? 0 : real.length)}`
    return world.resolve(source).kind !== 'missing' && only?.(source) !== false
  })
}

/** Denies code that cannot be judged beforehand if it names a path that must not be written; null when it does not. */
function opaqueRefusal(part: OpaquePart, cwd: string, limits: WriteLimits, world: World): string | null {
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
  // A bare word may be anything. A path out of the project counts if its directory exists.
  const isMeant = name.includes('/') && (kind !== 'missing' || isPlace(posix.dirname(real), world))
  return isInside(real, limits.root) || (isMeant && real !== '/') ? pathRefusal(real, limits) : null
}

/** `/users` and `/api/items` in a program are URL paths more often than files. */
function isPlace(directory: string, world: World): boolean {
  return directory !== '/' && world.resolve(directory).kind === 'directory'
}

/** Only the beginning of the path is known, if at all. The rest may lead into the package, but not back in from outside. */
function shapeRefusal(shape: string, limits: WriteLimits, world: World): string | null {
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
