/** Where the keys and values of a JSON text stand. The text must be one that `JSON.parse` accepts. */
export interface JsonPlaces {
  /** Offsets by path, as `JSON.stringify` of its segments. */
  readonly keys: ReadonlyMap<string, number>
  readonly values: ReadonlyMap<string, number>
  /** A key that stands twice in one object: the later one. `JSON.parse` would silently take it. */
  readonly duplicates: readonly { readonly key: string; readonly offset: number }[]
}

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs

/** No setting stands deeper; what does is not looked at, or hostile nesting would make the paths endless. */
const maxDepth = 8

interface Level {
  readonly path: readonly (string | number)[]
  /** Of an object the key whose value comes next; of a list the index. */
  next: string | number | null
  readonly isList: boolean
}

export function jsonPlaces(text: string): JsonPlaces {
  const keys = new Map<string, number>()
  const values = new Map<string, number>()
  const duplicates: { key: string; offset: number }[] = []
  const levels: Level[] = []
  for (const { 0: token, index: offset } of text.matchAll(tokens)) {
    const level = levels.at(-1)
    if (token === '}' || token === ']') levels.pop()
    else if (token === ',') {
      if (level !== undefined) level.next = typeof level.next === 'number' ? level.next + 1 : null
    } else if (token === ':') {
      // What follows is the value of the key that was just read.
    } else if (level !== undefined && !level.isList && level.next === null) {
      const key = String(JSON.parse(token))
      level.next = key
      if (levels.length > maxDepth) continue
      const place = JSON.stringify([...level.path, key])
      if (keys.has(place)) duplicates.push({ key, offset })
      keys.set(place, offset)
    } else {
      const isDeep = levels.length > maxDepth
      const path = level === undefined || isDeep ? [] : [...level.path, level.next ?? '']
      if (!isDeep) values.set(JSON.stringify(path), offset)
      if (token === '{' || token === '[')
        levels.push({ path, next: token === '[' ? 0 : null, isList: token === '[' })
    }
  }
  return { keys, values, duplicates }
}

/** Lines and columns count from 1. */
export function lineAndColumn(
  text: string,
  offset: number,
): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}
