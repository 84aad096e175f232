export interface NamedCase {
  readonly name: string
  /** Relative to the directory of all cases. */
  readonly path: string
}

/**
 * An id for each case, a file name and unique: its name, unless several have the same; then its place. Which id a case has never
 * depends on the order.
 */
export function caseIds(cases: readonly NamedCase[]): ReadonlyMap<string, string> {
  const byName = Map.groupBy(cases, ({ name }) => fileName(name).toLowerCase())
  const ids = new Map<string, string>()
  const taken = new Set<string>()
  for (const { name, path } of cases) {
    const isAlone = byName.get(fileName(name).toLowerCase())?.length === 1
    const wanted = isAlone ? fileName(name) : fileName(path.replaceAll('/', '.'))
    let id = wanted
    for (let count = 2; taken.has(id.toLowerCase()); count += 1) id = `${wanted}-${count}`
    taken.add(id.toLowerCase())
    ids.set(path, id)
  }
  return ids
}

const longest = 100

function fileName(text: string): string {
  const plain = text.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replace(/^[^A-Za-z0-9]+/, '')
  return plain === '' ? 'case' : plain.slice(0, longest)
}
