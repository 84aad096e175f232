import fs from 'node:fs'
import { dirname, resolve } from 'node:path'
import { GantryError } from '../core/error.ts'
import { makeDirectories } from './directory.ts'
import { randomSuffix } from './ids.ts'

/** A destination for text, written piece by piece. */
type StreamOutput = ReturnType<typeof streamOutput>

/**
 * A file that appears completely or not at all. Writes beside the path and renames at the end. Creates parents at the first write. Follows a link. Writes directly to a device or a
 * named pipe, which cannot be replaced. Throws GantryError NOT_WRITABLE or NO_SPACE.
 */
export function fileOutput(path: string) {
  let opened: OpenFile | null = null
  let pending: string[] = []
  let pendingChars = 0
  const flush = (): OpenFile =>
    translated(path, () => {
      opened ??= open(path)
      fs.writeFileSync(opened.fd, pending.join(''))
      pending = []
      pendingChars = 0
      return opened
    })
  return {
    write(text: string): void {
      pending.push(text)
      pendingChars += text.length
      if (pendingChars >= flushChars) flush()
    },
    /** Everything written so far becomes the file's content, which may be empty. */
    close(): void {
      const { fd, temporary, target } = flush()
      translated(path, () => {
        fs.closeSync(fd)
        opened = null
        if (temporary !== null) fs.renameSync(temporary, target)
      })
    },
    /** Keeps the previous file. */
    discard(): void {
      pending = []
      if (opened === null) return
      fs.closeSync(opened.fd)
      if (opened.temporary !== null) fs.rmSync(opened.temporary, { force: true })
      opened = null
    },
  }
}

/** Appends to a file that other programs write too. */
export function appendOutput(path: string): { write(text: string): void } {
  return { write: (text) => translated(path, () => fs.appendFileSync(path, text)) }
}

/** A stream such as `process.stdout`. A reader that closes early (`| head`) is not an error. */
export function streamOutput(stream: NodeJS.WritableStream) {
  let gone = false
  let failure: unknown = null
  let full = false
  stream.on('error', (error: NodeJS.ErrnoException) => {
    gone = true
    if (error.code !== 'EPIPE') failure = error
  })
  return {
    write(text: string): void {
      if (failure !== null) throw unwritable('The output', failure)
      if (gone) return
      try {
        full = !stream.write(text)
      } catch (cause) {
        // A file behind the stream throws instead of emitting an event.
        throw unwritable('The output', cause)
      }
    },
    /** Settles when the reader has caught up. */
    async drain(): Promise<void> {
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

/** A stream of this process, with what a terminal can show. */
export interface ProcessOutput extends StreamOutput {
  readonly isTTY: boolean
  readonly columns: number
  readonly rows: number
  /** NO_COLOR, FORCE_COLOR and the kind of stream already weighed. */
  readonly color: boolean
}

const processOutputs = new WeakMap<NodeJS.WriteStream, ProcessOutput>()

/** The same one for every call: each would listen to the stream. */
export function processOutput(stream: NodeJS.WriteStream): ProcessOutput {
  const known = processOutputs.get(stream)
  if (known !== undefined) return known
  const { write, drain } = streamOutput(stream)
  const output: ProcessOutput = {
    write,
    drain,
    isTTY: stream.isTTY === true,
    get columns() {
      // A terminal without a known size reports 0. Without a terminal COLUMNS decides, as for git, ps and pytest.
      return stream.columns || chosenColumns(process.env.COLUMNS) || 80
    },
    get rows() {
      return stream.rows || 24
    },
    color: wantsColor(stream),
  }
  processOutputs.set(stream, output)
  return output
}

function chosenColumns(text = ''): number {
  return /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0
}

function wantsColor(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '0') return true
  return stream.isTTY === true && TERM !== 'dumb'
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
  const existing = fs.statSync(path, { throwIfNoEntry: false })
  if (existing !== undefined && !existing.isFile())
    return { fd: fs.openSync(path, 'a'), temporary: null, target: path }
  const target = existing === undefined ? resolve(path) : fs.realpathSync(path)
  makeDirectories(dirname(target))
  const temporary = `${target}.${process.pid}.${randomSuffix(4)}.tmp`
  return { fd: fs.openSync(temporary, 'wx'), temporary, target }
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
