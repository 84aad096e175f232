import { formatDuration } from '../../core/duration.ts'
import { GantryError } from '../../core/error.ts'
import type { Note, UnseenChange } from '../../guard-engine/contract.ts'
import { protectionFold } from '../../guard-engine/history/protection.ts'
import { ledgerFiles, readLedger } from '../../guard-engine/ledger/read-ledger.ts'
import { checkSeal, sealNote } from '../../guard-engine/seal/seal-files.ts'
import { type PersonCheck, provePerson } from './prove-person.ts'

export interface PersonRequest extends Omit<PersonCheck, 'about'> {
  /** Real path of the project. */
  readonly root: string
  readonly nowMs: number
  append(note: Note): void
}

const defaultMs = 10 * 60_000
const maxMs = 60 * 60_000

/** Lifts self-protection until `untilMs`. */
export async function unlock({ forMs = defaultMs, ...request }: PersonRequest & { readonly forMs?: number }) {
  if (forMs > maxMs) {
    throw new GantryError('USAGE', `${formatDuration(forMs)} is longer than an unlock may last`, {
      hint: `Unlock for at most ${formatDuration(maxMs)}. You can repeat it.`,
    })
  }
  const about = `For ${formatDuration(forMs)} agents in ${request.root} may change the guard's settings, hooks and ledger.`
  const by = await provePerson({ ...request, about })
  const untilMs = request.nowMs + forMs
  request.append({ kind: 'unlocked', untilMs, by })
  return { untilMs, by }
}

/** Ends an unlock at once. Needs no person, because it only makes the guard stricter. */
export function lock({ append, by }: { append(note: Note): void; readonly by: string }): void {
  append({ kind: 'unlocked', untilMs: 0, by })
}

export interface ResealRequest extends PersonRequest {
  readonly guardHome: string
  /** The sealed paths: `sealedPaths` of the project. */
  readonly paths: readonly string[]
  /** The current seal; null when there is none. */
  readonly sealed: Readonly<Record<string, string | null>> | null
}

/** Accepts the current content of the files that control the guard. */
export async function reseal(request: ResealRequest): Promise<{ readonly changed: readonly string[] }> {
  const breaks = request.sealed === null ? [] : await checkSeal(request.sealed)
  const shown = breaks.map(({ path, what }) => `  ${path}: ${what}`).join('\n')
  const about =
    request.sealed === null
      ? 'There is no seal yet. This seals the current content of the files that control the guard.'
      : breaks.length === 0
        ? 'No sealed file has changed. This renews the seal.'
        : `These files differ from their seal. This accepts their current content:\n${shown}`
  await provePerson({ ...request, about })
  request.append(sealNote(request, request.paths))
  return { changed: breaks.map(({ path }) => path) }
}

export interface WaiveRequest extends PersonRequest {
  readonly reason: string
  /** The current tree, to which evidence is bound. */
  fingerprint(): Promise<string>
}

/** Accepts the work as done without evidence, only for the current tree and with a recorded reason. */
export async function waive(request: WaiveRequest): Promise<{ readonly tree: string; readonly by: string }> {
  const why = request.reason.trim()
  if (why === '') {
    throw new GantryError('USAGE', 'a waiver needs a reason', { hint: 'Give one with --reason TEXT.' })
  }
  const tree = await request.fingerprint()
  const about = `The current files of ${request.root} will count as done without evidence: ${why}`
  const by = await provePerson({ ...request, about })
  if ((await request.fingerprint()) !== tree) {
    throw new GantryError('USAGE', 'the files changed before you confirmed, so nothing was waived', {
      hint: 'Wait until the agent is idle, and try again.',
    })
  }
  request.append({ kind: 'waived', tree, by, why })
  return { tree, by }
}

/** Acknowledges the changes of protected files that the guard has noticed, in all sessions of the project. */
export async function acknowledge({
  changes,
  ...request
}: PersonRequest & { readonly changes: readonly UnseenChange[] }): Promise<void> {
  const shown = changes.map(
    ({ path, what, at, by }) =>
      `  ${path}: ${what} at ${at}${by === null ? ' between calls' : ` while ${by} ran`}`,
  )
  const about = `These protected files changed. You have seen it, and agents may end their work:\n${shown.join('\n')}`
  const by = await provePerson({ ...request, about })
  request.append({ kind: 'changes_seen', by })
}

/** Of all sessions, oldest first. */
export function unseenChanges(guardHome: string, root: string): readonly UnseenChange[] {
  const [project = '', ...sessions] = ledgerFiles(guardHome, root)
  const notes = readLedger(guardHome, project).entries.filter((entry) => entry.kind === 'note')
  const unseen = sessions.flatMap((path) => {
    const entries = [...notes, ...readLedger(guardHome, path).entries].toSorted((a, b) =>
      a.at < b.at ? -1 : 1,
    )
    return entries.reduce(protectionFold.apply, protectionFold.initial).unseen
  })
  // A session has those of earlier ones too.
  const once = new Map(unseen.map((change) => [`${change.at} ${change.path}`, change]))
  return [...once.values()].toSorted((a, b) => (a.at < b.at ? -1 : 1))
}
