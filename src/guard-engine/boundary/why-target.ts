import { posix } from 'node:path'
import type { ResolvedPath, World } from '../../shell/world.ts'
import { isInside } from '../seal/own-match.ts'
import type { WriteTarget } from '../targets.ts'
import { shown } from './shown.ts'
import { type WriteBounds, whyPath } from './write-bounds.ts'

/** Why a file a call would write must stay as it is, in a sentence; null when it may be written. */
export function whyTarget(target: WriteTarget, bounds: WriteBounds, world: World): string | null {
  const { path, below, entry = false } = target
  const written = shown(target.written ?? path)
  // Of a search only what it finds is changed, not where it looks; but what it finds may be anything there.
  const replaces = entry && below?.only === undefined
  const resolved = world.resolve(path)
  const real = replaces ? placeOf(path, world) : resolved.real
  // With a slash behind it a link is gone through even by what takes entries away.
  const goesThrough = !replaces || /\/\.?["']?$/.test(target.written ?? path)
  const why =
    whyPath(real, bounds, replaces) ??
    (goesThrough ? (whyPath(resolved.real, bounds) ?? whyTwin(resolved, bounds, world)) : null)
  if (why !== null) return `${written} must not be written: ${why}.`
  const kept = below === undefined ? undefined : keptBelow(real, below, bounds, world)
  return kept === undefined ? null : `${written} must not be written as a whole: ${shown(kept)} is in it.`
}

/** The entry itself, not what a link at it leads to. */
function placeOf(path: string, world: World): string {
  const plain = path.replace(/(?<=.)\/+$/, '')
  const name = posix.basename(plain)
  if (name === '' || name === '.' || name === '..') return world.resolve(plain).real
  // Not normalised: behind a link `..` is the directory above where it leads.
  const parent = world.resolve(plain.slice(0, plain.lastIndexOf('/')) || '/').real
  return `${parent === '/' ? '' : parent}/${name}`
}

/** A second name of a file that is kept. */
function whyTwin({ id, links }: ResolvedPath, { grounds }: WriteBounds, world: World): string | null {
  if (id === null || links < 2) return null
  for (const ground of grounds)
    if (ground.kind === 'kept' && world.resolve(ground.path).id === id) return ground.why
  return null
}

/** What must stay and would be changed with all the rest: as far as there is something at its place where it comes from. */
function keptBelow(
  real: string,
  { look, only }: NonNullable<WriteTarget['below']>,
  { root, grounds }: WriteBounds,
  world: World,
): string | undefined {
  const from = world.resolve(look).real
  return [root, ...grounds.filter(({ kind }) => kind === 'kept').map(({ path }) => path)].find((place) => {
    if (place === real || !isInside(place, real)) return false
    const source = `${from === '/' ? '' : from}${place.slice(real === '/' ? 0 : real.length)}`
    return world.resolve(source).kind !== 'missing' && only?.(source) !== false
  })
}
