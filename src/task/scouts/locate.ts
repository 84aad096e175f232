import type { SourceTree } from './source-tree.ts'

export type Located =
  | { readonly kind: 'right' }
  | { readonly kind: 'repaired'; readonly path: string }
  | { readonly kind: 'unknown' }

/** Whether a path a model gave is in the tree, or which one it can only have meant. */
export function locate(tree: SourceTree, given: string): Located {
  const known = pathsOf(tree)
  if (known.has(given)) return { kind: 'right' }
  const plain = given
    .trim()
    .replaceAll('\\', '/')
    .replace(/^(?:file:\/\/)?\/workspace\//, '')
    .replace(/^(?:[ab]|\.)\//, '')
    .replace(/[:#]L?\d+(?:[-:,]L?\d+)?$/, '')
  if (known.has(plain)) return { kind: 'repaired', path: plain }
  const lower = plain.toLowerCase()
  const meant = tree.paths.filter((path) => path.toLowerCase() === lower)
  const only = meant.length === 1 ? meant : tree.paths.filter((path) => path.endsWith(`/${plain}`))
  const [path] = only
  return only.length === 1 && path !== undefined && plain !== ''
    ? { kind: 'repaired', path }
    : { kind: 'unknown' }
}

const sets = new WeakMap<SourceTree, ReadonlySet<string>>()

function pathsOf(tree: SourceTree): ReadonlySet<string> {
  const known = sets.get(tree) ?? new Set(tree.paths)
  sets.set(tree, known)
  return known
}
