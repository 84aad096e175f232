import { shorten } from '../../core/shorten.ts'
import { locate } from './locate.ts'
import type { SourceTree } from './source-tree.ts'

/** Keeps the entries whose path is in the tree, with the path as it really is. What was wrong is told. */
export function checkedPaths(tree: SourceTree, told: (what: string) => void) {
  const checkOne = (path: string, where: string): string | null => {
    const found = locate(tree, path)
    if (found.kind === 'right') return path
    if (found.kind === 'unknown') {
      told(`${where}: there is no file ${shown(path)}; dropped`)
      return null
    }
    told(`${where}: ${shown(path)} is ${found.path}; repaired`)
    return found.path
  }
  return {
    one: checkOne,
    all: (paths: readonly string[], where: string): string[] => [
      ...new Set(paths.map((path) => checkOne(path, where)).filter((path) => path !== null)),
    ],
  }
}

function shown(path: string): string {
  return JSON.stringify(shorten(path, 200))
}
