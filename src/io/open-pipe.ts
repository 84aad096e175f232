import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

/** The reading end for us, which never blocks, and the writing end for a child, which does, as programs expect. */
export interface Pipe {
  readonly ours: number
  readonly theirs: number
  /** To be called once both ends are closed. A pipe that was read to its end is used again: no process can write into it any more. */
  giveBack(wasReadToEnd: boolean): void
}

/**
 * A real pipe for a child's output. Node itself would give the child a socket, and a socket cannot be opened through
 * `/dev/stdout` or `/dev/stderr`: `echo oops > /dev/stderr` fails under it. null where pipes cannot be made.
 */
export function openPipe(): Pipe | null {
  const held = idleStream.pop() ?? makeMore()
  if (held === null) return null
  const path = `/proc/self/fd/${held}`
  let ours: number | null = null
  try {
    ours = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
    const theirs = fs.openSync(path, fs.constants.O_WRONLY)
    return {
      ours,
      theirs,
      giveBack: (wasReadToEnd) => (wasReadToEnd ? idleStream.push(held) : fs.closeSync(held)),
    }
  } catch {
    if (ours !== null) fs.closeSync(ours)
    fs.closeSync(held)
    return null
  }
}

export function abandon(pipe: Pipe): void {
  fs.closeSync(pipe.ours)
  pipe.giveBack(true)
}

export function readingEnd(pipe: Pipe): Readable {
  let hasEnded = false
  return new Socket({ fd: pipe.ours, readable: true, writable: false })
    .once('end', () => {
      hasEnded = true
    })
    .once('close', () => pipe.giveBack(hasEnded))
}

/** Holds back a program that reads a line from `path` before it does its work. It gets none when this process is killed. */
export type StartPipe = NonNullable<ReturnType<typeof openStartPipe>>

/** Must be closed once the program has ended. null where pipes cannot be made, or opened by their path. */
export function openStartPipe() {
  const pipe = showsItsFiles() ? openPipe() : null
  if (pipe === null) return null
  let isOpen = true
  return {
    /** For a program of the same user, as long as this process lives. */
    path: `/proc/${process.pid}/fd/${pipe.ours}`,
    /** Does nothing when the program has ended: the number may belong to another file by then. */
    start: (): void => {
      if (isOpen) fs.writeSync(pipe.theirs, '\n')
    },
    close: (): void => {
      isOpen = false
      for (const fd of [pipe.ours, pipe.theirs]) fs.closeSync(fd)
      pipe.giveBack(false)
    },
  }
}

/** Not after this process has changed its user: Linux gives `/proc/self/fd` to root then. */
function showsItsFiles(): boolean {
  return fs.statSync('/proc/self/fd', { throwIfNoEntry: false })?.uid === process.geteuid?.()
}

/** At first for one program, because most commands start few. */
let batchSize = 4
/** Opens only the path (`O_PATH`), without becoming a reader or writer. */
const O_PATH = 0o10000000
const idleStream: number[] = []
let canMake = process.platform === 'linux'

/** FIFOs whose names are removed at once: no other process can find them, and nothing is left on disk if we are killed. */
function makeMore(): number | null {
  if (!canMake) return null
  let directory: string | null = null
  try {
    directory = fs.mkdtempSync(join(tmpdir(), 'gantry-pipes-'))
    const paths = Array.from({ length: batchSize }, (_, index) => `${directory}/${index}`)
    canMake = spawnSync('mkfifo', paths, { stdio: 'ignore' }).status === 0
    if (canMake) for (const path of paths) idleStream.push(fs.openSync(path, O_PATH))
    batchSize = Math.min(batchSize * 4, 128)
  } catch {
    // No writable temporary directory, or no file descriptors left: what could be opened is used.
  } finally {
    if (directory !== null) fs.rmSync(directory, { recursive: true, force: true })
  }
  return idleStream.pop() ?? null
}
