import { basename } from 'node:path'
import type { WriteTarget } from '../../targets.ts'
import { fold, isInside } from '../own-match.ts'
import { speaksOfGuard } from '../steering-content.ts'
import type { Attempt, Tampering } from './attempt.ts'

/** Any write that ends at an own path, below one, or takes along a directory one lies in. */
export const touchesOwn: Tampering = (attempt) => {
  for (const write of attempt.targets.writes) {
    const found = attempt.match(write.path)
    if (found === null || isPlainProjectFile(found.own, attempt)) continue
    if (found.relation !== 'above')
      return `${found.own} is guarded, and this call would change it (${write.how})`
    const own = takenAlong(write, attempt)
    if (own !== null) return `${own} lies in ${write.path}, and this call takes it along (${write.how})`
  }
  return null
}

/** The own path below a directory that the write reaches; null when it leaves what is in the directory alone. */
function takenAlong({ path, how, entry, below }: WriteTarget, attempt: Attempt): string | null {
  const { world } = attempt
  // Rights are judged by what they become.
  if (/rights|mode|owner/.test(how)) return null
  const isThere = (name: string): boolean => world.resolve(name).kind !== 'missing'
  const directories = new Set([path, world.resolve(path).real])
  for (const directory of directories) {
    for (const own of world.own) {
      if (!isInside(fold(own), fold(directory)) || isPlainProjectFile(own, attempt)) continue
      if (below !== undefined) {
        const from = `${below.look}${own.slice(directory === '/' ? 0 : directory.length)}`
        if (isThere(from) && (below.only === undefined || below.only(from))) return own
      } else if (entry === true && (isThere(own) || how.includes('link'))) return own
    }
  }
  return null
}

/** gantry.yaml is the guard's only as far as it speaks of the guard. */
function isPlainProjectFile(own: string, { world, text }: Attempt): boolean {
  if (!/^gantry\.ya?ml$/i.test(basename(own))) return false
  const before = world.readText(own, 1_000_000) ?? ''
  return !speaksOfGuard(before) && !/guard/i.test(text)
}
