/**
 * Codex and Copilot read what a command prints to stdout and to stderr through two pipes and join the pieces as they come, so
 * that the same command gives its lines in another order the next time. These are their marks on such a result.
 */
const fromTwoPipes = /^Chunk ID: |^Wall time: |<shellId: /m

/** The same value, with the lines of such results sorted; null when there is none in it. */
export function withoutLineOrder(value: unknown): unknown {
  let isChanged = false
  const walk = (item: unknown): unknown => {
    if (typeof item === 'string') {
      if (!fromTwoPipes.test(item)) return item
      isChanged = true
      return item.split('\n').sort().join('\n')
    }
    if (Array.isArray(item)) return item.map(walk)
    if (typeof item !== 'object' || item === null) return item
    return Object.fromEntries(Object.entries(item).map(([key, field]) => [key, walk(field)]))
  }
  const walked = walk(value)
  return isChanged ? walked : null
}
