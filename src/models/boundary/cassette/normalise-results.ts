import type { IdNumbers } from './id-numbers.ts'

const answeringKeys = ['tool_use_id', 'call_id', 'tool_call_id']

/**
 * Results that stand side by side, in the order of their calls: parallel calls end in any order, and some agents send what
 * ended first first. Which call each of them answers is told by its id.
 */
export function inOrderOfCalls(
  items: readonly unknown[],
  ids: IdNumbers,
  isToolOutput: (object: object) => boolean,
): readonly unknown[] {
  const numberOf = (item: unknown): number | null =>
    typeof item === 'object' && item !== null && isToolOutput(item) ? answered(item, ids) : null
  const numbers = items.map(numberOf)
  if (!numbers.some((number, at) => isBehind(number, numbers[at + 1]))) return items
  const sorted: unknown[] = []
  for (let at = 0; at < items.length; ) {
    const run: { readonly item: unknown; readonly number: number }[] = []
    for (let number = numbers[at]; number !== null && number !== undefined; number = numbers[at]) {
      run.push({ item: items[at], number })
      at += 1
    }
    sorted.push(...run.sort((a, b) => a.number - b.number).map(({ item }) => item))
    if (run.length === 0) {
      sorted.push(items[at])
      at += 1
    }
  }
  return sorted
}

function isBehind(number: number | null, next: number | null | undefined): boolean {
  return number !== null && next !== null && next !== undefined && number > next
}

function answered(object: object, ids: IdNumbers): number | null {
  const key = answeringKeys.find((name) => name in object)
  const id = key === undefined ? null : ids.of(object, key)
  const number = /\d+/.exec(id ?? '')?.[0]
  return number === undefined ? null : Number(number)
}
