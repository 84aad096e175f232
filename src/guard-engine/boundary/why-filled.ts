import type { World } from '../../shell/world.ts'
import type { FilledDirectory } from '../targets.ts'
import { shown } from './shown.ts'
import { whyShape } from './why-opaque.ts'
import { type WriteBounds, whyPath } from './write-bounds.ts'

/** Why nothing must be made in a directory, in a sentence; null when it may be. */
export function whyFilled(
  { path, how, written }: FilledDirectory,
  bounds: WriteBounds,
  world: World,
): string | null {
  const why = /[\0\u0001]/.test(path)
    ? whyShape(path, bounds, world)
    : whyPath(world.resolve(path).real, bounds)
  return why === null ? null : `${shown(written)} must not be written to (${how}): ${why}.`
}
