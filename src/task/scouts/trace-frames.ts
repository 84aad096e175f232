import { type LogPlace, logPlaces } from '../log-places.ts'
import { locate } from './locate.ts'
import type { SourceTree } from './source-tree.ts'

const maxFrames = 20

/** Places in the repository that a log points to, in the order of their mention, each once. */
export function traceFrames(log: string, tree: SourceTree): readonly LogPlace[] {
  const frames = new Map<string, LogPlace>()
  for (const { path: printed, line } of logPlaces(log)) {
    const where = locate(tree, printed)
    if (where.kind === 'unknown') continue
    const path = where.kind === 'repaired' ? where.path : printed
    if (line >= 1 && line <= (tree.lineCount(path) ?? 0)) frames.set(`${path}:${line}`, { path, line })
    if (frames.size === maxFrames) break
  }
  return [...frames.values()]
}
