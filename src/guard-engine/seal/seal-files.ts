import { basename, dirname, join } from 'node:path'
import type { HookEvent } from '../../core/hook-event.ts'
import { contentHash, fileHash } from '../../io/content-hash.ts'
import { listFiles, readTextInside } from '../../io/files.ts'
import { pathKind } from '../../io/path-kind.ts'
import { readShortText } from '../../io/read-short-text.ts'
import { realPath } from '../../io/resolve-links.ts'
import type { History, Note, SealBreak } from '../contract.ts'
import { ledgerPlace } from '../ledger/ledger-place.ts'
import { allLedgerFiles, readLedger } from '../ledger/read-ledger.ts'
import { type GuardLocation, sealedPaths } from './guarded-paths.ts'
import { steeringContent } from './steering-content.ts'

/** The current own files: a hash by path, null for a file that does not exist and must not appear. With what the guard's settings say. */
export function sealNote({ guardHome }: Pick<GuardLocation, 'guardHome'>, paths: readonly string[]) {
  const settings = [...paths, join(guardHome, 'harness.json')].filter((path) => isSettingsFile(path))
  return {
    kind: 'sealed',
    files: Object.fromEntries(paths.map((path) => [path, sealOf(path)])),
    texts: Object.fromEntries(
      settings.flatMap((path) => {
        const text = pathKind(path) === 'file' ? readShortText(path, maxSettingsBytes) : null
        const steering = text === null ? null : steeringContent(path, text)
        return steering === null ? [] : [[path, steering]]
      }),
    ),
  } as const satisfies Note
}

const maxSettingsBytes = 1024 * 1024

function isSettingsFile(path: string): boolean {
  return /\/(?:harness\.json|gantry\.ya?ml)$/.test(path)
}

/** Changes when the hook-related content of this file, or of any file in this directory, changes. */
export function sealOf(path: string): string | null {
  const kind = pathKind(path)
  if (kind === null) return null
  if (kind === 'directory') return sealOfDirectory(path)
  // A device or a FIFO is never read, only recognized.
  return kind === 'file' ? sealOfFile(path) : 'no file'
}

function sealOfDirectory(directory: string): string {
  const names = listFiles(directory, { exclude: (name) => name.startsWith('.git/') || name === '.git' })
  return contentHash(names.flatMap((name) => [name, sealOf(join(directory, name)) ?? 'missing']))
}

function sealOfFile(path: string): string | null {
  const real = realPath(path)
  const read = readTextInside(dirname(real), basename(real))
  if (read.kind !== 'text') return fileHash(real) ?? 'unreadable'
  const steering = steeringContent(path, read.text)
  return steering === null ? null : contentHash([steering])
}

/**
 * For the project's ledger: when a session starts in a project without a seal, the current files are sealed as the user's own, because the
 * agent has done nothing yet. null when there is a seal or this is not a start.
 */
export async function firstSeal(
  event: HookEvent,
  history: History,
  place: GuardLocation,
): Promise<Note | null> {
  if (event.kind !== 'session_start' || history.gate.sealed !== null) return null
  return sealNote(place, sealedPaths(place))
}

/** The sealed files that changed. */
export async function checkSeal(
  sealed: Readonly<Record<string, string | null>>,
): Promise<readonly SealBreak[]> {
  return Object.entries(sealed).flatMap(([path, before]) => {
    const what = difference(before, sealOf(path))
    return what === null ? [] : [{ path, what }]
  })
}

function difference(before: string | null, now: string | null): string | null {
  if (before === now) return null
  if (before === null) return 'it was not there'
  return now === null ? 'it is gone' : 'its content is another'
}

/** The seal in the ledger of a project; null when there is none. */
export function currentSeal(guardHome: string, root: string): Readonly<Record<string, string | null>> | null {
  return sealIn(guardHome, ledgerPlace(guardHome, root, '').project)
}

/** The same, by ledger file. */
function sealIn(guardHome: string, path: string): Readonly<Record<string, string | null>> | null {
  for (const entry of readLedger(guardHome, path).entries.toReversed()) {
    if (entry.kind === 'note' && entry.note.kind === 'sealed') return entry.note.files
  }
  return null
}

/** Every path that the current seal of any project expects to exist. Removing one would break that seal. */
export function sealedSomewhere(guardHome: string): ReadonlySet<string> {
  const projects = allLedgerFiles(guardHome).filter((path) => basename(path) === 'project.jsonl')
  const files = projects.flatMap((path) => Object.entries(sealIn(guardHome, path) ?? {}))
  return new Set(files.filter(([, hash]) => hash !== null).map(([path]) => path))
}
