import { resolve } from 'node:path'
import type { SourcePosition } from '../../core/error.ts'
import { isObject } from '../../core/json-fields.ts'

/** Where a value comes from. A key without a source has its default. */
export type ConfigSource =
  | { readonly kind: 'file'; readonly at: SourcePosition }
  | { readonly kind: 'environment'; readonly variable: string }
  | { readonly kind: 'flag'; readonly flag: string }

/** One value and its source. */
export interface ConfigEntry {
  readonly path: readonly string[]
  readonly value: unknown
  readonly by: ConfigSource
}

/** `execution.num_reps` -> its source. */
export type ConfigSources = ReadonlyMap<string, ConfigSource>

export type JoinedLayers = ReturnType<typeof joinLayers>

/** Merges the layers key by key; later layers win. A list is one value. */
export function joinLayers(...layers: readonly (readonly ConfigEntry[])[]) {
  const value: Record<string, unknown> = {}
  const sources = new Map<string, ConfigSource>()
  for (const entry of layers.flat()) {
    put(value, entry.path, entry.value)
    sources.set(entry.path.join('.'), entry.by)
  }
  return { value, sources }
}

/** Every leaf value of a mapping. An empty mapping is a value too. */
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

/** Relative paths start at the directory of their file; those of flags and variables at the working directory. */
export function absolutePaths(layer: readonly ConfigEntry[], base: string): readonly ConfigEntry[] {
  return layer.map((entry) => {
    const key = entry.path.join('.')
    if (pathKeys.has(key)) return { ...entry, value: absolute(entry.value, base) }
    const { value } = entry
    if (!scriptedKeys.has(key) || typeof value !== 'string' || !value.startsWith(scripted)) return entry
    return { ...entry, value: scripted + resolve(base, value.slice(scripted.length)) }
  })
}

/** Other values are left to the schema, which reports them. */
function absolute(value: unknown, base: string): unknown {
  if (Array.isArray(value)) return value.map((item) => absolute(item, base))
  return typeof value === 'string' && value !== '' ? resolve(base, value) : value
}

/** The source to name in a message about a path: that of the value, else that of a value below or above it. */
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
