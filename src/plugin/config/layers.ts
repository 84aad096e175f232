import { resolve } from 'node:path'
import type { SourcePosition } from '../../core/error.ts'
import { isObject } from '../../core/json-fields.ts'

/** Where a value comes from. A key that nobody said has its default. */
export type ConfigSource =
  | { readonly kind: 'file'; readonly at: SourcePosition }
  | { readonly kind: 'environment'; readonly variable: string }
  | { readonly kind: 'flag'; readonly flag: string }

/** One value that somebody gave, and who. */
export interface ConfigEntry {
  readonly path: readonly string[]
  readonly value: unknown
  readonly by: ConfigSource
}

/** `execution.num_reps` -> who said it. */
export type ConfigSources = ReadonlyMap<string, ConfigSource>

export interface JoinedLayers {
  readonly value: Readonly<Record<string, unknown>>
  readonly sources: ConfigSources
}

/** Later layers win, key by key; a list is one value. */
export function joinLayers(...layers: readonly (readonly ConfigEntry[])[]): JoinedLayers {
  const value: Record<string, unknown> = {}
  const sources = new Map<string, ConfigSource>()
  for (const said of layers.flat()) {
    put(value, said.path, said.value)
    sources.set(said.path.join('.'), said.by)
  }
  return { value, sources }
}

/** Every value of a mapping by itself. A mapping that is empty is a value too. */
export function leavesOf(
  value: unknown,
  by: (path: readonly string[]) => ConfigSource,
  above: readonly string[] = [],
): readonly ConfigEntry[] {
  if (isObject(value)) {
    const entries = Object.entries(value)
    if (entries.length > 0 || above.length === 0)
      return entries.flatMap(([key, item]) => leavesOf(item, by, [...above, key]))
  }
  return [{ path: above, value, by: by(above) }]
}

function put(into: Record<string, unknown>, [key = '', ...deeper]: readonly string[], value: unknown): void {
  if (deeper.length === 0) {
    into[key] = value
    return
  }
  const there = into[key]
  const below = isObject(there) ? there : {}
  into[key] = below
  put(below, deeper, value)
}

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
export function absolutePaths(layer: readonly ConfigEntry[], base: string): readonly ConfigEntry[] {
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

/** Who is to be asked about the value at a path: who said it, else who said something beside or above it. */
export function sourceOf(sources: ConfigSources, path: readonly PropertyKey[]): ConfigSource | null {
  for (let length = path.length; length > 0; length--) {
    const key = path.slice(0, length).map(String).join('.')
    const found = [...sources].filter(([name]) => name === key || name.startsWith(`${key}.`))
    const strongest = found.map(([, source]) => source).toSorted((a, b) => rank[b.kind] - rank[a.kind])
    if (strongest[0] !== undefined) return strongest[0]
  }
  return null
}

const rank = { file: 0, environment: 1, flag: 2 } as const
