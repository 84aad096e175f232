import { joinPath, listDirectory, type Path, showPath } from './list-directory.ts'
import { resolveInside } from './resolve-inside.ts'

/** The first link below `root` that leads out of it, as `copyTree` would refuse it; null when every link stays inside. */
export function escapingLink(
  root: string,
  exclude: (path: string) => boolean = () => false,
): { readonly path: string; readonly reason: string } | null {
  const waiting: Path[] = ['']
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    for (const entry of listDirectory(below === '' ? root : joinPath(root, below))) {
      const path = below === '' ? entry.name : joinPath(below, entry.name)
      if (exclude(showPath(path))) continue
      if (entry.isDirectory()) waiting.push(path)
      // A link whose name is no text is refused when it is copied.
      if (!entry.isSymbolicLink() || typeof path !== 'string') continue
      const end = resolveInside(root, path)
      if (end.kind === 'outside') return { path, reason: end.reason }
    }
  }
  return null
}
