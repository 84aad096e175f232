import {
  appendFileSync,
  closeSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { GantryError } from '../core/error.ts'
import { makeDirectories } from './directory.ts'
import { randomSuffix } from './ids.ts'

/** A place text is written to, piece by piece. */
export interface StreamOutput {
  write(text: string): void
  /** Settles when the reader has caught up. */
  drain(): Promise<void>
}

/** A file that appears whole or not at all. */
export interface FileOutput {
  write(text: string): void
  /** Everything written so far becomes the file's content. A sink that was never written to makes an empty file. */
  close(): void
  /** Nothing happened: what stood at the path before stands there still. */
  discard(): void
}

/**
 * Writes beside the path and renames at the end. Parents are made at the first write. A link is followed; a device or a
 * named pipe cannot be replaced, so it is written to directly. Throws GantryError NOT_WRITABLE or NO_SPACE.
 */
export function fileOutput(path: string): FileOutput {
  let opened: OpenFile | null = null
  let pending: string[] = []
  let pendingChars = 0
  const flush = (): OpenFile =>
    translated(path, () => {
      opened ??= open(path)
      writeAll(opened.fd, pending.join(''))
      pending = []
      pendingChars = 0
      return opened
    })
  return {
    write(text) {
      pending.push(text)
      pendingChars += text.length
      if (pendingChars >= flushChars) flush()
    },
    close() {
      const { fd, temporary, target } = flush()
      translated(path, () => {
        closeSync(fd)
        opened = null
        if (temporary !== null) renameSync(temporary, target)
      })
    },
    discard() {
      pending = []
      if (opened === null) return
      closeSync(opened.fd)
      if (opened.temporary !== null) rmSync(opened.temporary, { force: true })
      opened = null
    },
  }
}

/** Adds to the end of a file others write to as well. */
export function appendOutput(path: string): { write(text: string): void } {
  return {
    write: (text) => translated(path, () => appendFileSync(path, text)),
  }
}

/** A stream such as `process.stdout`. A reader that went away early (`| head`) is its right and no error. */
export function streamOutput(stream: NodeJS.WritableStream): StreamOutput {
  let gone = false
  let failure: unknown = null
  let full = false
  stream.on('error', (error: NodeJS.ErrnoException) => {
    gone = true
    if (error.code !== 'EPIPE') failure = error
  })
  return {
    write(text) {
      if (failure !== null) throw unwritable('The output', failure)
      if (gone) return
      try {
        full = !stream.write(text)
      } catch (cause) {
        // A file behind the stream fails at once and not by an event.
        throw unwritable('The output', cause)
      }
    },
    async drain() {
      if (!full || gone) return
      await new Promise<void>((done) => {
        const settle = (): void => {
          for (const event of drained) stream.off(event, settle)
          done()
        }
        for (const event of drained) stream.on(event, settle)
      })
      full = false
    },
  }
}

const flushChars = 65_536
const drained = ['drain', 'error', 'close']

interface OpenFile {
  readonly fd: number
  /** null when the path itself is written. */
  readonly temporary: string | null
  readonly target: string
}

function open(path: string): OpenFile {
  const existing = statIfExists(path)
  if (existing !== undefined && !existing.isFile())
    return { fd: openSync(path, 'a'), temporary: null, target: path }
  const target = existing === undefined ? resolve(path) : realpathSync(path)
  makeDirectories(dirname(target))
  const temporary = `${target}.${process.pid}.${randomSuffix(4)}.tmp`
  return { fd: openSync(temporary, 'wx'), temporary, target }
}

function statIfExists(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at)
}

function translated<T>(path: string, act: () => T): T {
  try {
    return act()
  } catch (cause) {
    throw cause instanceof GantryError ? cause : unwritable(path, cause)
  }
}

function unwritable(what: string, cause: unknown): GantryError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new GantryError('NO_SPACE', `The disk is full: ${what} could not be written.`, {
      hint: 'Free some space, or name a file on another disk.',
      cause,
    })
  return new GantryError('NOT_WRITABLE', `${what} cannot be written (${String(code ?? cause)}).`, {
    hint: 'Name a file in a directory you may write to.',
    cause,
  })
}
