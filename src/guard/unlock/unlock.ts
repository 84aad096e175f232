import { formatDuration } from '../../core/duration.ts'
import { GantryError } from '../../core/error.ts'
import type { Note } from '../../guard-engine/contract.ts'
import { type PersonCheck, provePerson } from './prove-person.ts'

export interface PersonsNote extends Omit<PersonCheck, 'about'> {
  /** Real path of the project. */
  readonly root: string
  readonly nowMs: number
  /** To the project's ledger. */
  append(note: Note): void
}

const defaultMs = 10 * 60_000
const maxMs = 60 * 60_000

/** Lifts self-protection for a while; `untilMs` says until when. */
export async function unlock({
  forMs = defaultMs,
  ...request
}: PersonsNote & { readonly forMs?: number }): Promise<{ readonly untilMs: number; readonly by: string }> {
  if (forMs > maxMs) {
    throw new GantryError('USAGE', `${formatDuration(forMs)} is longer than an unlock may last`, {
      hint: `Unlock for at most ${formatDuration(maxMs)}; it can be done again.`,
    })
  }
  const about = `For ${formatDuration(forMs)} agents in ${request.root} may change the guard's settings, hooks and ledger.`
  const by = await provePerson({ ...request, about })
  const untilMs = request.nowMs + forMs
  request.append({ kind: 'unlocked', untilMs, by })
  return { untilMs, by }
}

/** Ends an unlock at once. Anybody may: it only makes things stricter. */
export function lock({ append, by }: { append(note: Note): void; readonly by: string }): void {
  append({ kind: 'unlocked', untilMs: 0, by })
}
