import { resolve } from 'node:path'
import type { Said } from './said.ts'

const pathKeys: ReadonlySet<string> = new Set([
  'plugin.path',
  'marketplace.path',
  'execution.additional_plugins',
  'execution.cwd',
  'execution.additional_directories',
  'scenarios',
])

const scriptedKeys: ReadonlySet<string> = new Set(['generation.model', 'evaluation.model'])
const scripted = 'scripted:'

/** Paths start at what says them: a file at its directory, a flag or a variable at the working directory. */
export function absolutePaths(layer: readonly Said[], base: string): readonly Said[] {
  return layer.map((said) => {
    const key = said.path.join('.')
    if (pathKeys.has(key)) return { ...said, value: absolute(said.value, base) }
    const { value } = said
    if (!scriptedKeys.has(key) || typeof value !== 'string' || !value.startsWith(scripted)) return said
    return { ...said, value: scripted + resolve(base, value.slice(scripted.length)) }
  })
}

/** What is no path is left to the schema, which says so. */
function absolute(value: unknown, base: string): unknown {
  if (Array.isArray(value)) return value.map((item) => absolute(item, base))
  return typeof value === 'string' && value !== '' ? resolve(base, value) : value
}
