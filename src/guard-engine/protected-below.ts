import type { World } from '../shell/world.ts'

/** Directories that are made by tools and can be made again: what looks protected in them is not the project's own. */
const generated = new Set(
  'node_modules bower_components .git .hg .svn .venv venv site-packages __pycache__ .tox .nox .mypy_cache .pytest_cache .ruff_cache dist build target out coverage .next .nuxt .svelte-kit .turbo .cache .parcel-cache .gradle vendor .terraform .yarn .pnpm-store'.split(
    ' ',
  ),
)

/** How many entries may still be looked at for one call. */
export interface LookBudget {
  left: number
}

/** Files below a directory for which `wanted` holds, nearest first; the look is bounded and follows no link. */
export function protectedBelow(
  directory: string,
  world: World,
  wanted: (path: string) => boolean,
  budget: LookBudget,
): readonly string[] {
  const start = world.resolve(directory)
  if (start.kind !== 'directory' || isGenerated(start.real)) return []
  const found: string[] = []
  const queue = [{ path: start.real, depth: 0 }]
  for (let at = queue.shift(); at !== undefined && budget.left > 0; at = queue.shift()) {
    for (const name of world.list(at.path) ?? []) {
      const path = at.path === '/' ? `/${name}` : `${at.path}/${name}`
      budget.left -= 1
      if (wanted(path)) found.push(path)
      if (found.length >= maxFound) return found
      if (at.depth < maxDepth && !generated.has(name) && isOwnDirectory(path, world))
        queue.push({ path, depth: at.depth + 1 })
    }
  }
  return found
}

const maxFound = 50
const maxDepth = 10

function isGenerated(path: string): boolean {
  return path.split('/').some((part) => generated.has(part))
}

/** A link to a directory is not gone into. */
function isOwnDirectory(path: string, world: World): boolean {
  return world.list(path) !== null && world.resolve(path).real === path
}
