import { GantryError } from '../core/error.ts'
import { nearest } from '../core/nearest.ts'

export function findTrial(ids: readonly string[], wanted: string, runId: string): string {
  if (ids.includes(wanted)) return wanted
  const matches = ids.filter((id) => id.startsWith(wanted))
  if (matches.length === 1 && matches[0] !== undefined) return matches[0]
  const some = (list: readonly string[]): string =>
    `${list.slice(0, 5).join(', ')}${list.length > 5 ? ', …' : ''}`
  if (matches.length > 1) {
    throw new GantryError(
      'USAGE',
      `${matches.length} trials of ${runId} begin with ${JSON.stringify(wanted)}`,
      { hint: `Write more of the id: ${some(matches)}.` },
    )
  }
  const close = nearest(wanted, ids)
  throw new GantryError('NOT_FOUND', `${runId} has no trial ${JSON.stringify(wanted)}`, {
    hint:
      close !== undefined
        ? `Did you mean ${close}?`
        : ids.length === 0
          ? 'It has none at all.'
          : `It has: ${some(ids)}.`,
  })
}
