import { spawnSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The reading end for us, which never blocks, and the writing end for a child, which does, as programs expect. */
export interface Pipe {
  readonly ours: number
  readonly theirs: number
  /** To be called once both ends are closed. A pipe that was read to its end is used again: nobody can write into it any more. */
  giveBack(wasReadToEnd: boolean): void
}

/**
 * A real pipe for a child's output. Node itself would give the child a socket, and a socket cannot be opened through
 * `/dev/stdout` or `/dev/stderr`: `echo oops > /dev/stderr` fails under it. null where pipes cannot be made.
 */
export function openPipe(): Pipe | null {
  const held = idle.pop() ?? makeMore()
  if (held === null) return null
  const path = `/proc/self/fd/${held}`
  let ours: number | null = null
  try {
    ours = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const theirs = openSync(path, constants.O_WRONLY)
    return { ours, theirs, giveBack: (wasReadToEnd) => (wasReadToEnd ? idle.push(held) : closeSync(held)) }
  } catch {
    if (ours !== null) closeSync(ours)
    closeSync(held)
    return null
  }
}

let batchSize = 16
/** Opens a file as a place only, without becoming a reader or writer of it. */
const O_PATH = 0o10000000
const idle: number[] = []
let canMake = process.platform === 'linux'

/** FIFOs whose names are gone at once: nobody else can find them, and nothing is left on disk if we are killed. */
function makeMore(): number | null {
  if (!canMake) return null
  let directory: string | null = null
  try {
    directory = mkdtempSync(join(tmpdir(), 'gantry-pipes-'))
    const paths = Array.from({ length: batchSize }, (_, index) => `${directory}/${index}`)
    canMake = spawnSync('mkfifo', paths, { stdio: 'ignore' }).status === 0
    if (canMake) for (const path of paths) idle.push(openSync(path, O_PATH))
    batchSize = Math.min(batchSize * 2, 128)
  } catch {
    // No writable temporary directory, or no file descriptors left: what could be opened is used.
  } finally {
    if (directory !== null) rmSync(directory, { recursive: true, force: true })
  }
  return idle.pop() ?? null
}
