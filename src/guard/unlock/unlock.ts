import { formatDuration } from '../../core/duration.ts'
import { GantryError } from '../../core/error.ts'
import type { Note } from '../../guard-engine/contract.ts'
import { lookAtSeal, sealFiles } from '../../guard-engine/seal/seal-files.ts'
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

export interface ResealRequest extends PersonsNote {
  /** What is sealed: `sealedPaths` of the project. */
  readonly paths: readonly string[]
  /** The seal as it is; null when there is none. */
  readonly sealed: Readonly<Record<string, string | null>> | null
}

/** Accepts the files that steer the guard as they are now. */
export async function reseal(request: ResealRequest): Promise<{ readonly changed: readonly string[] }> {
  const breaks = request.sealed === null ? [] : await lookAtSeal(request.sealed)
  const shown = breaks.map(({ path, what }) => `  ${path}: ${what}`).join('\n')
  const about =
    request.sealed === null
      ? 'There is no seal yet. The files that steer the guard are sealed as they are.'
      : breaks.length === 0
        ? 'Every sealed file is as it was sealed. The seal is made anew.'
        : `These files differ from their seal, and are accepted as they are:\n${shown}`
  await provePerson({ ...request, about })
  request.append({ kind: 'sealed', files: await sealFiles(request.paths) })
  return { changed: breaks.map(({ path }) => path) }
}

export interface WaiveRequest extends PersonsNote {
  readonly reason: string
  /** Of the tree as it is now: the one evidence is bound to. */
  fingerprint(): Promise<string>
}

/** Lets the work be called done without evidence, for the tree exactly as it is now and with a reason that is kept. */
export async function waive(request: WaiveRequest): Promise<{ readonly tree: string; readonly by: string }> {
  const why = request.reason.trim()
  if (why === '') {
    throw new GantryError('USAGE', 'a waiver needs a reason', { hint: 'Say why with --reason TEXT.' })
  }
  const tree = await request.fingerprint()
  const about = `The files of ${request.root}, as they are now, count as done without evidence: ${why}`
  const by = await provePerson({ ...request, about })
  if ((await request.fingerprint()) !== tree) {
    throw new GantryError('USAGE', 'the files changed while you were asked, so nothing was waived', {
      hint: 'Wait until the agent rests, and try again.',
    })
  }
  request.append({ kind: 'waived', tree, by, why })
  return { tree, by }
}
