import type { ToolCall } from '../../core/hook-event.ts'
import { withoutHoles } from '../../shell/unknown.ts'
import type { World } from '../../shell/world.ts'
import { type CallTargets, callTargets, type WriteTarget } from '../targets.ts'
import { whyFilled } from './why-filled.ts'
import { whyGit, whyGitTool } from './why-git.ts'
import { whyOpaque } from './why-opaque.ts'
import { whyTarget } from './why-target.ts'
import type { WriteBounds } from './write-bounds.ts'

/** Why a call must not be made: it would write where the bounds do not reach. null when it may be. The same for every tool. */
export function whyCall(call: ToolCall, cwd: string, bounds: WriteBounds, world: World): string | null {
  const { writes, into = [], opaque, runs } = callTargets(call, cwd, world)
  for (const target of writes) {
    const why = whyTarget(target, bounds, world)
    if (why !== null && !isFarFetched(target, opaque, world)) return why
  }
  for (const directory of into) {
    const why = whyFilled(directory, bounds, world)
    if (why !== null) return why
  }
  for (const part of opaque) {
    const why = whyOpaque(part, cwd, bounds, world)
    if (why !== null) return why
  }
  if (bounds.git === 'all') return null
  for (const words of runs) {
    const why = whyGit(words)
    if (why !== null) return why
  }
  return call.action.kind === 'unknown' ? whyGitTool(call.tool) : null
}

/**
 * `$d/x` would be `/x` if nothing were in the variable, which is how empty ones did harm to files that are there; where no such
 * file is, it is taken for what it says: a name in a directory that is not known yet.
 */
function isFarFetched({ path, written }: WriteTarget, opaque: CallTargets['opaque'], world: World): boolean {
  const isGuess = opaque.some(({ shape, written: text }) => {
    const at = shape?.search(/[\0\u0001]/) ?? -1
    return at !== -1 && text === written && withoutHoles(shape?.slice(at) ?? '') === path
  })
  return isGuess && world.resolve(path).kind === 'missing'
}
