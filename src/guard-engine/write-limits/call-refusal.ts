import { posix } from 'node:path'
import type { ToolCall } from '../../core/hook-event.ts'
import { withoutHoles } from '../../shell/unknown.ts'
import type { ResolvedPath, World } from '../../shell/world.ts'
import { isInside } from '../seal/own-match.ts'
import { type CallTargets, callTargets, type FilledDirectory, type WriteTarget } from '../targets.ts'
import { gitRefusal, gitToolRefusal } from './git-refusal.ts'
import { opaqueRefusal, shapeRefusal } from './opaque-refusal.ts'
import { pathRefusal, quotedName, type WriteLimits } from './write-limits.ts'

/** Why a call must not be made: it would write outside the write limits. null when it may be made. The same for every tool. */
export function callRefusal(call: ToolCall, cwd: string, limits: WriteLimits, world: World): string | null {
  const { writes, into = [], opaque, runs } = callTargets(call, cwd, world)
  for (const target of writes) {
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
 * `$d/x` is `/x` when the variable is empty, which has destroyed real files. Where no such file exists, it is read as a name in a
 * directory that is not known yet.
 */
function isUnlikelyGuess(
  { path, written }: WriteTarget,
  opaque: CallTargets['opaque'],
  world: World,
): boolean {
  const isGuess = opaque.some(({ shape, written: text }) => {
    const at = shape?.search(/[\0\u0001]/) ?? -1
    return at !== -1 && text === written && withoutHoles(shape?.slice(at) ?? '') === path
  })
  return isGuess && world.resolve(path).kind === 'missing'
}

/** Why no file must be created in a directory, as a sentence; null when it may be. */
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

/** Why a file must not be written, as a sentence; null when it may be. */
function targetRefusal(target: WriteTarget, limits: WriteLimits, world: World): string | null {
  const { path, below, entry = false } = target
  const written = quotedName(target.written ?? path)
  // A search changes what it finds, not the directory it searches; but it may find anything in there.
  const replaces = entry && below?.only === undefined
  const resolved = world.resolve(path)
  const real = replaces ? placeOf(path, world) : resolved.real
  // With a slash after it, a link is followed even by a command that removes entries.
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

/** The entry itself, not what a link at it leads to. */
function placeOf(path: string, world: World): string {
  const plain = path.replace(/(?<=.)\/+$/, '')
  const name = posix.basename(plain)
  if (name === '' || name === '.' || name === '..') return world.resolve(plain).real
  // Not normalised: after a link, `..` is the parent of the directory the link leads to.
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
