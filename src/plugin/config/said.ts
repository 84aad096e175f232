import type { SourcePosition } from '../../core/error.ts'
import { isObject } from '../../core/json-fields.ts'

/** Where a value comes from. A key that nobody said has its default. */
export type ConfigSource =
  | { readonly kind: 'file'; readonly at: SourcePosition }
  | { readonly kind: 'environment'; readonly variable: string }
  | { readonly kind: 'flag'; readonly flag: string }

/** One value that somebody gave, and who. */
export interface Said {
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
export function joinLayers(...layers: readonly (readonly Said[])[]): JoinedLayers {
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
): readonly Said[] {
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
