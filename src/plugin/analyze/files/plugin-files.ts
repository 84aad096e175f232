import { basename, join, relative } from 'node:path'
import { contentHash } from '../../../io/content-hash.ts'
import { isExecutable } from '../../../io/find-program.ts'
import { listDirectory, showPath } from '../../../io/list-directory.ts'
import { entryKind } from '../../../io/path-kind.ts'
import { readHead } from '../../../io/read-head.ts'
import { type InsideText, readTextInside } from '../../../io/read-text-inside.ts'
import { resolveInside } from '../../../io/resolve-inside.ts'
import type { Notes } from '../notes.ts'

export type PluginFiles = ReturnType<typeof openPluginFiles>

export type Place = 'file' | 'directory' | 'missing' | 'outside' | 'other'

export interface Entry {
  readonly name: string
  /** A link is always `link`, wherever it leads. */
  readonly kind: 'file' | 'directory' | 'link' | 'other'
}

export interface PluginFileText {
  readonly path: string
  /** Without byte order mark and carriage returns; '' when the file is binary. */
  readonly text: string
  /** It began with a byte order mark. */
  readonly hasMark: boolean
  /** Its lines ended in carriage returns. */
  readonly hadReturns: boolean
}

/** Claude Code silently drops a skill, command or agent above this. */
const maxBytes = 1024 * 1024
/** Claude Code reads hooks and servers of any size. */
const maxJsonBytes = 8 * maxBytes
const headBytes = 64 * 1024
/** In one directory. */
const mostEntries = 5_000

/**
 * The files of one plugin. Files outside of it are never opened, reads never block, and sizes are limited. `root` is absolute and resolved.
 */
export function openPluginFiles(root: string, notes: Notes) {
  const known = new Map<string, PluginFileText | null>()
  const hashed = new Map<string, string>()
  /** What is at a path. A link inside the plugin is followed; one that leads out becomes a finding. */
  const placeOf = (path: string): Place => {
    const where = resolveInside(root, path)
    if (where.kind === 'missing') return 'missing'
    if (where.kind === 'inside') {
      const kind = entryKind(where.path)
      return kind === 'file' || kind === 'directory' ? kind : 'other'
    }
    noteOutside(notes, path, where.reason)
    return 'outside'
  }
  /** null when it cannot be read, which becomes a finding unless the path does not exist. */
  const read = (path: string): PluginFileText | null => {
    const before = known.get(path)
    if (before !== undefined) return before
    const found = readTextInside(root, path, { maxBytes: path.endsWith('.json') ? maxJsonBytes : maxBytes })
    const text = textOf(found, path, notes)
    if (text !== null) hashed.set(path, found.kind === 'too_large' ? `${found.bytes} bytes: ${text}` : text)
    const file =
      text === null
        ? null
        : {
            path,
            text: clean(text, path, notes),
            hasMark: text.startsWith('\uFEFF'),
            hadReturns: text.includes('\r'),
          }
    known.set(path, file)
    return file
  }
  return {
    root,
    placeOf,
    /** In Claude Code's order; empty when there is no such directory. */
    list: (path: string) => (placeOf(path) === 'directory' ? entriesOf(root, path, notes) : []),
    read,
    /** Like `read`, but null for a file that Claude Code drops because of its size. */
    readComponent: (path: string): PluginFileText | null => {
      const found = readTextInside(root, path, { maxBytes })
      if (found.kind !== 'too_large') return read(path)
      hashed.set(path, `${found.bytes} bytes`)
      notes.add('FILE_TOO_LARGE', {
        message: `${path} has ${found.bytes} bytes: Claude Code drops a file above ${maxBytes} without a message`,
        path,
        detail: { bytes: found.bytes, limit_bytes: maxBytes },
      })
      return null
    },
    isExecutable: (path: string) => isExecutable(join(root, path)),
    /** Of everything read so far. */
    hash: () => contentHash([...hashed].sort(([a], [b]) => (a < b ? -1 : 1)).flat()),
  }
}

function entriesOf(root: string, path: string, notes: Notes): readonly Entry[] {
  let listed: ReturnType<typeof listDirectory>
  try {
    listed = listDirectory(join(root, path))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    noteUnreadable(notes, path, `cannot be listed: ${why}`)
    return []
  }
  const entries = listed.flatMap((entry): Entry[] => {
    if (typeof entry.name !== 'string') {
      noteUnreadable(notes, join(path, showPath(entry.name)), 'has a name that is not UTF-8')
      return []
    }
    const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : undefined
    return [{ name: entry.name, kind: kind ?? (entry.isSymbolicLink() ? 'link' : 'other') }]
  })
  if (entries.length > mostEntries)
    notes.add('TOO_MANY_FILES', {
      message: `${path} has ${entries.length} entries; only the first ${mostEntries} were read`,
      path,
    })
  return entries.sort((a, b) => byCollation(a.name, b.name)).slice(0, mostEntries)
}

function textOf(read: InsideText, path: string, notes: Notes): string | null {
  switch (read.kind) {
    case 'text':
      return read.text
    case 'too_large': {
      notes.add('FILE_TOO_LARGE', {
        message: `${path} has ${read.bytes} bytes; only its first ${headBytes} were read`,
        severity: 'warning',
        path,
        detail: { bytes: read.bytes, read_bytes: headBytes },
      })
      const head = readHead(read.path, headBytes)
      return head.kind === 'text' ? head.text : ''
    }
    case 'outside':
      noteOutside(notes, path, read.reason)
      return null
    case 'missing':
      return null
    case 'not_a_file':
      noteUnreadable(notes, path, `is ${read.what}, not a file`)
      return null
    case 'unreadable':
      noteUnreadable(notes, path, `cannot be read: ${read.reason}`)
      return null
  }
}

function clean(text: string, path: string, notes: Notes): string {
  if (text.includes('\0')) {
    notes.add('FILE_NOT_TEXT', {
      message: `${basename(path)} is binary; nothing of it was read`,
      path,
    })
    return ''
  }
  if (text.includes('\uFFFD'))
    notes.add('FILE_NOT_TEXT', {
      message: `${basename(path)} has bytes that are not UTF-8`,
      suggestion: 'Save it as UTF-8.',
      path,
      severity: 'warning',
    })
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text
  return plain.includes('\r') ? plain.replaceAll(/\r\n?/g, '\n') : plain
}

function noteOutside(notes: Notes, path: string, reason: string): void {
  notes.add('LINK_OUTSIDE', {
    message: `${path} is not followed: ${reason}`,
    path,
  })
}

function noteUnreadable(notes: Notes, path: string, why: string): void {
  notes.add('FILE_UNREADABLE', {
    message: `${path} ${why}`,
    path,
  })
}

/** A written path in the usual form: relative to the plugin's root, without `./`. */
export function tidyPath(root: string, path: string): string {
  return relative(root, join(root, path))
}

/** Joins a path and a name; the root itself is ''. */
export function below(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}

const collator = new Intl.Collator('en')

/** The order in which Claude Code loads files of the same kind. */
export function byCollation(a: string, b: string): number {
  return collator.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0)
}
