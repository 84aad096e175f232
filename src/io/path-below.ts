import { dirname, isAbsolute, relative, sep } from 'node:path'

/** The path from a directory to what is in it, '' for the directory itself; null for a path outside. Links are not followed. */
export function pathBelow(directory: string, path: string): string | null {
  const way = relative(directory, path)
  return way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way) ? null : way
}

/** The path itself, its directory, and so on up to the root. */
export function withAncestors(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [path, ...withAncestors(parent)]
}
