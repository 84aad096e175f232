import type { ResolvedAgent } from '../config/resolve-agent.ts'
import type { ModelBehind } from '../models/boundary/behind.ts'

/** What comes from a file costs nothing, so no cap can be reached by it; unless somebody wants to see one reached. */
export function isFree({ source, replay }: ModelBehind, meter: ResolvedAgent['meter']): boolean {
  return replay === 'strict' || (source.kind === 'script' && meter !== 'always')
}
