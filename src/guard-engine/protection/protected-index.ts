import { join } from 'node:path'
import { type FileState, fileMark, fileState } from '../../io/file-state.ts'
import { type listDirectory, listIfReadable } from '../../io/list-directory.ts'
import { sha256 } from '../../io/sha256.ts'
import { skipsDirectory } from '../generated-directories.ts'
import type { ProtectedPaths } from '../protected-path.ts'
import { steeringContent } from '../seal/steering-content.ts'

/** The protected files of a project at one moment, and the directories in which a new one is noticed. */
export interface ProtectedIndex {
  /** Identifies the patterns. An index for others says nothing about new files. */
  readonly patterns: string
  /** Mark by path. Empty for a directory that must be listed again. */
  readonly directories: Readonly<Record<string, string>>
  readonly files: Readonly<Record<string, KnownFile>>
  /** A limit was reached: what is further away is not watched. */
  readonly isPartial: boolean
  /** Identifies the files that control the guard, as far as they were looked at. */
  readonly control?: string
}

export interface KnownFile extends Omit<FileState, 'content' | 'isFresh'> {
  readonly pattern: string
  /** A private copy of the content exists. */
  readonly isCopied: boolean
  /** Hash of what steers the guard, for a file that is not protected by a pattern; empty where nothing in it does. */
  readonly steers?: string
}

/** In place of a pattern: the file is in the seal. */
export const controlPattern = 'it controls the guard'

/** Nearest first: what is deeper or beyond these numbers is not watched. */
const watchLimits = {
  directories: 2_000,
  depth: 12,
  files: 1_000,
  /** A larger file is recognized by size and time. */
  hashBytes: 16 * 1024 * 1024,
  copyBytes: 1024 * 1024,
  copiesBytes: 64 * 1024 * 1024,
} as const

/** The protected files of a project, relative to it, for a sandbox that is set up before a session. */
export function protectedFilesIn(request: Pick<ScanRequest, 'root' | 'paths' | 'nowMs'>): readonly string[] {
  const { files } = scanProtected({ ...request, outside: [], patterns: '', before: null, keep: () => {} })
  return Object.keys(files)
    .filter((path) => path.startsWith(`${request.root}/`) && files[path]?.kind !== 'directory')
    .map((path) => path.slice(request.root.length + 1))
    .toSorted()
}

export interface ScanRequest {
  readonly root: string
  /** Directories outside of the project whose own entries are watched, such as `~/.ssh`. */
  readonly outside: readonly string[]
  readonly patterns: string
  readonly paths: ProtectedPaths
  /** Files that control the guard, existing or not. */
  readonly control?: readonly string[]
  /** Protected files in directories that are not entered. */
  readonly also?: readonly string[]
  readonly before: ProtectedIndex | null
  readonly nowMs: number
  readonly list?: typeof listDirectory
  /** Stores a private copy. */
  readonly keep: (hash: string, content: Buffer) => void
}

/** Looks at each known file and directory with one `stat`, and lists and reads only what changed. */
export function scanProtected(request: ScanRequest): ProtectedIndex {
  const { before, nowMs, paths, root, outside } = request
  const directories: Record<string, string> = {}
  const candidates = new Set(Object.keys(before?.files ?? {}))
  let isPartial = false
  const queue = [{ path: root, depth: 0 }, ...outside.map((path) => ({ path, depth: watchLimits.depth }))]
  const seen = new Set(queue.map(({ path }) => path))
  for (const path of Object.keys(before?.directories ?? {})) {
    if (seen.has(path)) continue
    seen.add(path)
    queue.push({ path, depth: path.slice(root.length).split('/').length - 1 })
  }
  let number = 0
  for (let at = queue[number]; at !== undefined; number += 1, at = queue[number]) {
    const mark = fileMark(at.path, nowMs)
    if (mark?.kind !== 'directory') continue
    const known = before?.directories[at.path]
    directories[at.path] = mark.isFresh ? '' : mark.mark
    if (known !== undefined && known !== '' && known === mark.mark) continue
    const patternOf = paths.inDirectory(at.path)
    for (const entry of listIfReadable(at.path, request.list)) {
      const name = entry.name.toString()
      const isDirectory = entry.isDirectory()
      if (!isDirectory && patternOf(name) === null) continue
      const path = `${at.path}/${name}`
      if (!isDirectory) {
        if (candidates.size < watchLimits.files || candidates.has(path)) candidates.add(path)
        else isPartial = true
        continue
      }
      if (seen.has(path) || skipsDirectory(name)) continue
      if (at.depth >= watchLimits.depth || seen.size >= watchLimits.directories) {
        isPartial ||= !outside.includes(at.path)
        continue
      }
      seen.add(path)
      queue.push({ path, depth: at.depth + 1 })
    }
  }
  for (const path of [...(request.control ?? []), ...(request.also ?? [])]) candidates.add(path)
  return {
    patterns: request.patterns,
    directories,
    files: knownFiles(candidates, request),
    isPartial: isPartial || (before?.isPartial ?? false),
    ...(request.control !== undefined && { control: nameOfList(request.control) }),
  }
}

/** Distinguishes lists that a person made, and takes a tenth of the time of SHA-256 by hand. */
function nameOfList(paths: readonly string[]): string {
  const text = paths.join('\0')
  let sum = 7
  for (let at = 0; at < text.length; at += 1) sum = (sum * 31 + text.charCodeAt(at)) % 4_294_967_291
  return `${text.length}-${sum}`
}

function knownFiles(candidates: ReadonlySet<string>, request: ScanRequest): ProtectedIndex['files'] {
  const { before, paths, nowMs, keep } = request
  const files: Record<string, KnownFile> = {}
  const control = new Set(request.control)
  let copied = 0
  for (const path of candidates) {
    const protectedBy = paths.patternOf(path)
    const pattern = protectedBy ?? (control.has(path) ? controlPattern : null)
    const mark = pattern === null ? null : fileMark(path, nowMs)
    if (mark === null || pattern === null || (protectedBy === null && mark.kind === 'directory')) continue
    const known = before?.files[path]
    if (known !== undefined && known.mark === mark.mark) {
      files[path] = known
      continue
    }
    const state = fileState(
      path,
      { hashBytes: watchLimits.hashBytes, keepBytes: watchLimits.copyBytes },
      nowMs,
    )
    if (state === null) continue
    const { content, isFresh, mark: stated, ...rest } = state
    copied += content?.length ?? 0
    const isCopied = content !== null && copied <= watchLimits.copiesBytes
    if (isCopied) keep(state.hash, content)
    const steers = protectedBy === null && { steers: steeringHash(path, state) }
    files[path] = { ...rest, mark: isFresh ? '' : stated, pattern, isCopied, ...steers }
  }
  return files
}

/** Agents keep more than hooks in their settings. Who may run a program matters, too. */
function steeringHash(path: string, { content, hash, mode }: FileState): string {
  const steering = content === null ? hash : steeringContent(path, content.toString())
  return steering === null ? '' : sha256(`${mode & 0o111} ${steering}`)
}

/** What differs between two looks. */
export interface ProtectedDifference {
  readonly path: string
  readonly what: 'changed' | 'new' | 'missing'
  readonly was: KnownFile | null
  readonly is: KnownFile | null
}

export function differences(before: ProtectedIndex, now: ProtectedIndex): readonly ProtectedDifference[] {
  const found: ProtectedDifference[] = []
  const isKnown = before.control !== undefined && before.control === now.control
  for (const [path, was] of Object.entries(before.files)) {
    if (was.steers !== undefined && !isKnown) continue
    const is = now.files[path]
    if (is === undefined && was.steers === '') continue
    if (is === undefined) found.push({ path, what: 'missing', was, is: null })
    else if (!isSame(was, is)) found.push({ path, what: 'changed', was, is })
  }
  for (const [path, is] of Object.entries(now.files))
    if (before.files[path] === undefined && (is.steers === undefined || (isKnown && is.steers !== '')))
      found.push({ path, what: 'new', was: null, is })
  return found
}

function isSame(one: KnownFile, other: KnownFile): boolean {
  if (one.steers !== undefined) return one.steers === other.steers
  const { kind, hash, link } = one
  return (
    kind === other.kind && hash === other.hash && link === other.link && keepsRights(one.mode, other.mode)
  )
}

/** Only others lost rights. `chmod 600` also takes the right to execute from the owner. */
function keepsRights(before: number, after: number): boolean {
  return (after & ~before) === 0 && (((before ^ after) & 0o7700) === 0 || after === 0o600)
}

/** Directories outside of the project in which files with a protected name are watched, not what is below them. */
export function outsideDirectories(root: string, home: string): readonly string[] {
  return [home, join(home, '.ssh')].filter((path) => path !== root && !path.startsWith(`${root}/`))
}
