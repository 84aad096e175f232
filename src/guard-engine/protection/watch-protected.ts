import { basename, join } from 'node:path'
import { moveAside, openDirectory, putBack } from '../../io/file-state.ts'
import type { listDirectory } from '../../io/list-directory.ts'
import { changedAtMs, entryKind, pathKind } from '../../io/path-kind.ts'
import { makePrivateDirectories, writePrivateFileAtomic } from '../../io/private-files.ts'
import { readFrom } from '../../io/read-from.ts'
import { removeTree } from '../../io/remove-tree.ts'
import { sha256 } from '../../io/sha256.ts'
import type { ProtectedChange } from '../contract.ts'
import { ledgerPlace } from '../ledger/ledger-place.ts'
import { ledgerSeal } from '../ledger/seal-line.ts'
import { protectedPaths } from '../protected-path.ts'
import type { Settings } from '../settings/settings.ts'
import {
  differences,
  outsideDirectories,
  type ProtectedDifference,
  type ProtectedIndex,
  scanProtected,
} from './protected-index.ts'

export interface WatchRequest {
  readonly guardHome: string
  readonly root: string
  readonly home: string
  readonly session: string
  readonly settings: Settings
  /** Files that control the guard. */
  readonly control?: readonly string[]
  /** Protected files in directories that are not entered. New ones are only a change at the end of a call. */
  readonly also?: { readonly paths: readonly string[]; readonly isEnd: boolean }
  readonly nowMs: number
  /** Changes are undone. */
  readonly restores: boolean
  /** Takes a new baseline, whatever was known. */
  readonly anew: boolean
  /** An earlier session that was killed in a call: the files are compared with its last look, as far as that call can have changed them. */
  readonly killed?: { readonly session: string; readonly untilMs: number }
  /** Writes nothing. */
  readonly dry: boolean
  /** Does the work once the answer was sent, where that is possible. */
  readonly later: (work: () => void) => void
  readonly list?: typeof listDirectory
}

/**
 * Compares the protected files with the last look of this session, with one `stat` for each of them and for each directory, and remembers
 * their new state. Contents are in the guard's home, for this user only, while the session lasts.
 */
export function watchProtected(request: WatchRequest) {
  const { root, home, settings, nowMs, dry, also } = request
  const { protectedPatterns } = settings.fileProtection
  const place = watchPlace(request)
  const patterns = sha256(JSON.stringify([protectedPatterns, root, home])).slice(0, 16)
  const known = request.anew ? null : readIndex(request, place)
  const before = known?.patterns === patterns ? known : null
  const scan = (from: ProtectedIndex | null): ProtectedIndex =>
    scanProtected({
      root,
      outside: outsideDirectories(root, home),
      patterns,
      paths: protectedPaths(protectedPatterns, root, home),
      before: from,
      nowMs,
      ...(request.control !== undefined && { control: request.control }),
      ...(also !== undefined && { also: also.paths }),
      ...(request.list !== undefined && { list: request.list }),
      keep: (hash, content) => {
        const copy = join(place.copies, hash)
        if (!dry && pathKind(copy) === null) writePrivateFileAtomic(copy, content)
      },
    })
  const now = scan(before)
  const last =
    request.killed === undefined
      ? null
      : readIndex(request, watchPlace({ ...request, session: request.killed.session }))
  const base = before ?? (last?.patterns === patterns ? last : null)
  const untilMs = before === null ? (request.killed?.untilMs ?? Infinity) : Infinity
  const found = (base === null ? [] : differences(base, now)).filter(
    ({ path, what, is }) =>
      is === null ||
      (changedAtMs(path) <= untilMs &&
        (what !== 'new' || also?.isEnd !== false || !also.paths.includes(path))),
  )
  const undo = request.restores && !dry
  const changes = found.map((each) => (undo ? undone(each, place, request) : described(each)))
  const index = undo && changes.some(({ restored }) => restored === true) ? scan(now) : now
  if (!dry && isWorthWriting(known, index)) {
    const write = (): void => writeIndex(request, place, index)
    // Only what was changed must not be reported twice.
    if (base === null || changes.length > 0) write()
    else request.later(write)
  }
  return {
    changes,
    index,
    /** There was nothing to compare with. */
    isFirst: before === null,
    /** There is no record of an earlier look, or it is not ours. */
    isLost: known === null,
    /** Of the record. */
    path: place.index,
  }
}

/** A few directories are listed again sooner than a file is replaced: the guard's own views change one at most calls. */
const maxListedAgain = 8

function isWorthWriting(known: ProtectedIndex | null, now: ProtectedIndex): boolean {
  if (known === null) return true
  const [before, after] = [known.directories, now.directories]
  const moved = Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path])
  const isSame = JSON.stringify({ ...known, directories: after }) === JSON.stringify(now)
  return !isSame || moved.length > maxListedAgain
}

type WatchPlace = ReturnType<typeof watchPlace>

function watchPlace({ guardHome, root, session }: Pick<WatchRequest, 'guardHome' | 'root' | 'session'>) {
  const place = ledgerPlace(guardHome, root, session)
  const directory = join(place.directory, 'protected', basename(place.session, '.jsonl'))
  return {
    directory,
    index: join(directory, 'index.json'),
    copies: join(directory, 'copies'),
    aside: join(directory, 'aside'),
  }
}

function readIndex({ guardHome }: WatchRequest, { index }: WatchPlace): ProtectedIndex | null {
  const { bytes } = readFrom(index, 0)
  if (bytes.length === 0) return null
  const opened = ledgerSeal(guardHome, index).open(bytes)
  if (opened.kind !== 'sealed' || typeof opened.value !== 'object' || opened.value === null) return null
  const { mac: _, ...value } = opened.value as ProtectedIndex & { readonly mac?: string }
  return value
}

function writeIndex({ guardHome }: WatchRequest, { index }: WatchPlace, value: ProtectedIndex): void {
  writePrivateFileAtomic(index, ledgerSeal(guardHome, index).close(value))
}

function described({ path, what, was, is }: ProtectedDifference): ProtectedChange {
  return { path, what, pattern: (is ?? was)?.pattern ?? '' }
}

/** The changed version is kept, because a person may have made the change during the call. */
function undone(
  difference: ProtectedDifference,
  { copies, aside }: WatchPlace,
  { root, nowMs }: WatchRequest,
): ProtectedChange {
  const { path, what, was, is } = difference
  const change = described(difference)
  const stamp = new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  const kept = join(aside, `${stamp}-${sha256(path).slice(0, 6)}-${basename(path)}`)
  const copy = was === null ? null : readCopy(copies, was.hash)
  if (was !== null && (!was.isCopied || copy === null))
    return { ...change, restored: false, why: 'there is no private copy of it' }
  makePrivateDirectories(aside)
  if (is?.isCopied === true && was !== null) writePrivateFileAtomic(kept, readCopy(copies, is.hash) ?? '')
  // A new file, or something that is not a file where one was.
  const isInTheWay = is !== null && (was === null || is.kind !== was.kind)
  const cleared = clearWay(path, root, kept)
  const moved = cleared ?? (isInTheWay && entryKind(path) !== null ? moveAside(path, kept) : null)
  const failed = moved ?? (was === null || copy === null ? null : putBack(path, { ...was, content: copy }))
  if (failed !== null) return { ...change, restored: false, why: failed }
  return { ...change, restored: true, ...(what !== 'missing' && { aside: kept }) }
}

/**
 * A link in place of a directory above a file is moved too: the file would be put back somewhere else. Links are not watched. A directory
 * that was closed gets the rights of its owner back.
 */
function clearWay(path: string, root: string, kept: string): string | null {
  if (!path.startsWith(`${root}/`)) return null
  const above = path.slice(root.length).split('/').slice(0, -1)
  for (const [index, name] of above.entries()) {
    const directory = join(root, ...above.slice(0, index + 1))
    const kind = entryKind(directory)
    if (kind === null) return null
    if (kind !== 'directory') return moveAside(directory, `${kept}.${name}`)
    openDirectory(directory)
  }
  return null
}

function readCopy(copies: string, hash: string): Buffer | null {
  const { bytes, state } = readFrom(join(copies, hash), 0)
  return state === null || sha256(bytes) !== hash ? null : Buffer.from(bytes)
}

/** Removes the copies of this session. Versions that were put aside stay. */
export function forgetProtected(request: Pick<WatchRequest, 'guardHome' | 'root' | 'session'>): void {
  const own = watchPlace(request)
  removeTree(own.copies)
  removeTree(own.index)
}
