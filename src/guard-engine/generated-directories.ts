/** Dependencies, outputs and caches: what is in them is not the project's own, whatever it looks like. */
const generated = new Set(
  'node_modules bower_components .git .hg .svn .venv venv site-packages __pycache__ .tox .nox .mypy_cache .pytest_cache .ruff_cache dist build target out coverage .next .nuxt .svelte-kit .turbo .cache .parcel-cache .gradle vendor .terraform .yarn .pnpm-store'.split(
    ' ',
  ),
)

/** A directory that no search for protected files or tests enters. */
export function skipsDirectory(name: string): boolean {
  return generated.has(name)
}

/** What a project may well track: protected files in these directories are watched if git knows them or a call names them. */
export const outputDirectories: readonly string[] = 'dist build target out coverage vendor'.split(' ')

/** Files that tools create in a project that does not ignore them. Running the tests must not make their evidence stale. */
export function isByproduct(name: string): boolean {
  return byproducts.has(name) || name.endsWith('.pyc')
}

const byproducts = new Set(
  'node_modules .harness __pycache__ .venv .ruff_cache .pytest_cache .coverage'.split(' '),
)
