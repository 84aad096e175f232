/** Never part of what is told about a project, whether git ignores it or not. */
const names = new Set([
  'node_modules',
  '.git',
  '.harness',
  '__pycache__',
  '.venv',
  '.ruff_cache',
  '.pytest_cache',
  '.cursor',
  '.coverage',
])

export function isIgnoredName(name: string): boolean {
  return names.has(name) || name.endsWith('.pyc')
}
