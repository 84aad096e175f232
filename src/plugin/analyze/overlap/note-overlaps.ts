import { normalText } from '../../generate/likeness.ts'
import type { Notes } from '../notes.ts'
import { type Described, findOverlaps } from './find-overlaps.ts'

/** Something that competes for the user's words. */
export interface Rival extends Described {
  /** What a user might say to get it. */
  readonly phrases: readonly string[]
  readonly isOwn: boolean
  readonly path: string
  readonly line?: number
}

/** Says which components claim the same: by their descriptions, or by a phrase to the letter. */
export function noteOverlaps(rivals: readonly Rival[], notes: Notes): void {
  const byId = new Map(rivals.map((rival) => [rival.id, rival]))
  const place = (ids: readonly string[]) => {
    const first = ids.map((id) => byId.get(id)).find((rival) => rival?.isOwn === true)
    return first === undefined ? {} : { path: first.path, line: first.line }
  }
  for (const { ids, similarity, shared } of findOverlaps(rivals, (id) => byId.get(id)?.isOwn === true))
    notes.add('OVERLAPPING_DESCRIPTIONS', {
      message: `${ids[0]} and ${ids[1]} describe themselves with ${Math.round(similarity * 100)} % the same words: ${shared.join('; ')}`,
      suggestion: 'Say in each what it does that the other does not, and when not to use it.',
      components: ids,
      ...place(ids),
      detail: { similarity: Math.round(similarity * 1_000) / 1_000, shared },
    })
  for (const { phrase, ids } of sharedPhrases(rivals))
    notes.add('SHARED_TRIGGER', {
      message: `${ids.join(' and ')} claim the same words: "${phrase}"`,
      suggestion: 'Leave the phrase to one of them.',
      components: ids,
      ...place(ids),
      detail: { phrase },
    })
}

function sharedPhrases(rivals: readonly Rival[]): readonly { phrase: string; ids: readonly string[] }[] {
  const claims = rivals.flatMap(({ id, isOwn, phrases }) =>
    phrases.map((phrase) => ({ id, isOwn, phrase, key: normalText(phrase) })),
  )
  return [...Map.groupBy(claims, ({ key }) => key)]
    .map(([key, group]) => ({
      key,
      phrase: group[0]?.phrase ?? '',
      ids: [...new Set(group.map(({ id }) => id))],
      isOwn: group.some((claim) => claim.isOwn),
    }))
    .filter(({ key, ids, isOwn }) => key !== '' && ids.length > 1 && isOwn)
}
