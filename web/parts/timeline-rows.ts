import { type Item, isBad, type Turn, titleOf } from './turns.ts'

/** A row of the timeline: an event, perhaps with what a subagent did in it, or the head of several like calls. */
export type Row =
  | { readonly kind: 'event'; readonly at: number; readonly item: Item; readonly branch: Branch | null }
  | { readonly kind: 'group'; readonly at: number; readonly items: readonly Item[]; readonly isOpen: boolean }

interface Branch {
  readonly items: readonly Item[]
  readonly isOpen: boolean
}

/** Fewer like calls one after the other are shown one by one. */
const likeCalls = 4

/** What is shown of the items: branches of subagents and like calls are folded unless `isOpen` names their first event. */
export function rowsOf(items: readonly Item[], isOpen: (at: number) => boolean): Row[] {
  const branches = new Map<number, Item[]>()
  for (const item of items)
    for (const parent of item.parents) {
      const inside = branches.get(parent)
      if (inside === undefined) branches.set(parent, [item])
      else inside.push(item)
    }
  const shown = items.filter(({ parents }) => parents.every(isOpen))
  const rows: Row[] = []
  for (let index = 0; index < shown.length; ) {
    const like = likeFrom(shown, index, branches)
    const [first] = like
    if (first === undefined) break
    index += like.length
    const isGroupOpen = like.length < likeCalls || isOpen(first.at)
    if (like.length >= likeCalls)
      rows.push({ kind: 'group', at: first.at - 0.5, items: like, isOpen: isGroupOpen })
    if (!isGroupOpen) continue
    for (const item of like) {
      const inside = branches.get(item.at)
      const branch = inside === undefined ? null : { items: inside, isOpen: isOpen(item.at) }
      rows.push({ kind: 'event', at: item.at, item, branch })
    }
  }
  return rows
}

/** The item, and calls of the same tool after it that went well. */
function likeFrom(
  items: readonly Item[],
  from: number,
  branches: ReadonlyMap<number, unknown>,
): readonly Item[] {
  const [first] = items.slice(from, from + 1)
  if (first === undefined) return []
  const tool = toolOf(first)
  const isLike = (item: Item | undefined): boolean =>
    item !== undefined &&
    toolOf(item) === tool &&
    item.depth === first.depth &&
    !isBad(item) &&
    !branches.has(item.at)
  if (tool === null || !isLike(first)) return [first]
  let end = from + 1
  while (isLike(items[end])) end += 1
  return items.slice(from, end)
}

function toolOf({ event }: Item): string | null {
  return event?.event === 'tool_call' ? event.tool : null
}

/** What to open so that an item is shown: the calls it is inside of, and the first of its like ones. */
export function waysTo(item: Item, rows: readonly Row[]): readonly number[] {
  const group = rows.find((row) => row.kind === 'group' && row.items.includes(item))
  return [...item.parents, ...(group === undefined ? [] : [group.at + 0.5])]
}

/** `12 events: 5 Bash, 3 Read` of a folded branch. */
export function branchWords(items: readonly Item[]): string {
  const counts = new Map<string, number>()
  for (const item of items) {
    const name = toolOf(item)
    if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const calls = [...counts].toSorted((a, b) => b[1] - a[1]).map(([name, times]) => `${times} ${name}`)
  const failed = items.filter(isBad).length
  return [
    `${items.length} ${items.length === 1 ? 'event' : 'events'} of the subagent`,
    calls.slice(0, 4).join(', '),
    failed === 0 ? '' : `${failed} failed`,
  ]
    .filter(Boolean)
    .join(' · ')
}

/** The first words of each of several like calls. */
export function groupWords(items: readonly Item[]): string {
  return items
    .slice(0, 8)
    .map((item) => titleOf(item).trim().split('\n', 1)[0]?.slice(0, 60) ?? '')
    .join(' · ')
}

/** The turns between two rows: the one that begins here, and those of what is folded or hidden. */
export function turnsBefore(row: Row, before: Row | undefined, turns: readonly Turn[]): readonly Turn[] {
  const last = lastTurn(row)
  if (last === null) return []
  const from = before === undefined ? null : lastTurn(before)
  return turns.slice(from === null ? 0 : turns.indexOf(from) + 1, turns.indexOf(last) + 1)
}

function lastTurn(row: Row): Turn | null {
  return (row.kind === 'event' ? row.item : row.items.at(row.isOpen ? 0 : -1))?.turn ?? null
}
