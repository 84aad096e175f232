export interface SelectedEntries {
  /** Sorted; directories end in `/`. */
  readonly entries: readonly string[]
  /** How many more there are to the same depth. */
  readonly omitted: number
}

/**
 * At most `max` entries of a tree, the upper levels first. Where a level does not fit, every directory gives its first
 * entries in turn, so that none is left out because of its name. Which ones depends on nothing but the names.
 */
export function selectEntries(
  known: Iterable<string>,
  options: { readonly depth: number; readonly max: number; readonly isThere?: (entry: string) => boolean },
): SelectedEntries {
  const { depth, max, isThere = () => true } = options
  const levels: Map<string, string[]>[] = []
  let omitted = 0
  for (const entry of known) {
    const level = levelOf(entry)
    if (level >= depth) continue
    const byParent = levels[level] ?? new Map<string, string[]>()
    levels[level] = byParent
    const parent = parentOf(entry)
    const siblings = byParent.get(parent)
    if (siblings === undefined) byParent.set(parent, [entry])
    else siblings.push(entry)
    omitted += 1
  }
  const entries: string[] = []
  for (const byParent of levels) {
    if (byParent === undefined) continue
    for (const entry of inTurns(byParent)) {
      if (entries.length === max) return { entries: entries.sort(), omitted }
      omitted -= 1
      if (isThere(entry)) entries.push(entry)
    }
  }
  return { entries: entries.sort(), omitted }
}

/** The first of each directory, then the second of each, and so on. */
function* inTurns(byParent: ReadonlyMap<string, string[]>): Generator<string> {
  const groups = [...byParent.keys()].sort().map((parent) => (byParent.get(parent) ?? []).sort())
  const longest = Math.max(0, ...groups.map((group) => group.length))
  for (let turn = 0; turn < longest; turn += 1)
    for (const group of groups) {
      const entry = group[turn]
      if (entry !== undefined) yield entry
    }
}

/** 0 for what stands in the root. */
function levelOf(entry: string): number {
  let level = 0
  for (let at = entry.indexOf('/'); at !== -1 && at < entry.length - 1; at = entry.indexOf('/', at + 1))
    level += 1
  return level
}

function parentOf(entry: string): string {
  return entry.slice(0, entry.lastIndexOf('/', entry.length - 2) + 1)
}
