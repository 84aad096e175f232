import { closeSync, constants, fstatSync, ftruncateSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomSuffix } from './ids.ts'

export interface InputFile {
  /** Holds the content. A child must not get this descriptor but one opened anew, which is at the beginning. */
  readonly held: number
  openAnew(): number
  /** To be called once nobody can read it any more; otherwise its content would change under a reader. */
  giveBack(isUnread: boolean): void
}

/**
 * A file without a name that holds a child's whole stdin. Unlike a pipe it cannot break when the child does not read, and
 * unlike Node's socket it can be opened again through `/dev/stdin`. null where it cannot be made: the caller then writes
 * into a stream. Files are used again: making one costs more than all the rest of starting a program.
 */
export function openInputFile(content: string | Uint8Array): InputFile | null {
  if (process.platform !== 'linux') return null
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  let held: number | null = null
  try {
    held = idle.pop() ?? makeFile()
    for (let at = 0; at < bytes.length; ) at += writeSync(held, bytes, at, bytes.length - at, at)
    // Never to nothing first: some file systems then write the new content through to the disk.
    if (fstatSync(held).size > bytes.length) ftruncateSync(held, bytes.length)
    return inputFile(held)
  } catch {
    if (held !== null) closeSync(held)
    return null
  }
}

const idle: number[] = []
const idleMax = 64

function inputFile(held: number): InputFile {
  return {
    held,
    openAnew: () => openSync(`/proc/self/fd/${held}`, constants.O_RDONLY),
    giveBack: (isUnread) => {
      if (isUnread && idle.length < idleMax) idle.push(held)
      else closeSync(held)
    },
  }
}

function makeFile(): number {
  const path = join(tmpdir(), `gantry-stdin-${process.pid}-${randomSuffix(12)}`)
  const fd = openSync(path, 'wx+', 0o600)
  unlinkSync(path)
  return fd
}
