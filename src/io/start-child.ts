import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { ChildExit, ChildRequest } from './child.ts'
import { randomSuffix } from './ids.ts'
import { abandon, openPipe, type Pipe, readingEnd } from './open-pipe.ts'
import { spawnElsewhere } from './spawn-client.ts'
import { countSpawn, needsServer } from './spawn-count.ts'

export type StartedChild = Awaited<ReturnType<typeof startChild>>

/** Starts a program as the leader of a new session. Throws, or reports by `exit`, when it cannot be started. */
export async function startChild(request: ChildRequest) {
  const { stdin = '' } = request
  const input = stdin.length > 0 ? openInputFile(stdin) : null
  // Where others start the programs, pipes are there already, and sockets cannot be handed on.
  const socketsDo = request.onlyWrites === true && !needsServer()
  const [output, errors] = socketsDo ? [null, null] : [openPipe(), openPipe()]
  try {
    const elsewhere = await elsewhereIfPossible(request, input, output, errors)
    const here = elsewhere === null ? spawnHere(request, input, output, errors) : null
    const stdinStream = here?.stdin == null ? null : feed(here.stdin, stdin)
    const stdout = ourEnd(output, here?.stdout)
    const stderr = ourEnd(errors, here?.stderr)
    return {
      /** undefined when it could not be started. */
      pid: elsewhere?.pid ?? here?.pid,
      exit: elsewhere?.exit ?? exitOf(here),
      stdout,
      stderr,
      /** Closes everything that was opened for it. `isAllGone`: no process can read its input any more. */
      release: (isAllGone: boolean): void => {
        for (const stream of [stdinStream, stdout, stderr]) stream?.destroy()
        input?.giveBack(isAllGone)
      },
    }
  } catch (cause) {
    for (const pipe of [output, errors]) if (pipe) abandon(pipe)
    input?.giveBack(true)
    throw cause
  } finally {
    for (const pipe of [output, errors]) if (pipe) fs.closeSync(pipe.theirs)
  }
}

async function elsewhereIfPossible(
  request: ChildRequest,
  input: InputFile | null,
  output: Pipe | null,
  errors: Pipe | null,
) {
  const needsStream = (request.stdin ?? '').length > 0 && input === null
  if (needsStream || output === null || errors === null) {
    countSpawn()
    return null
  }
  return spawnElsewhere(request, [input?.held ?? null, output.theirs, errors.theirs])
}

function spawnHere(
  { argv: [file, ...args], cwd, env, stdin = '' }: ChildRequest,
  input: InputFile | null,
  output: Pipe | null,
  errors: Pipe | null,
): ChildProcess {
  const inputFd = input?.openAnew()
  try {
    return spawn(file, args, {
      cwd,
      env,
      detached: true,
      windowsHide: true,
      stdio: [
        stdin.length > 0 ? (inputFd ?? 'pipe') : 'ignore',
        output?.theirs ?? 'pipe',
        errors?.theirs ?? 'pipe',
      ],
    })
  } finally {
    if (inputFd !== undefined) fs.closeSync(inputFd)
  }
}

function exitOf(child: ChildProcess | null): Promise<ChildExit> {
  return new Promise((resolve) => {
    child?.once('exit', (code, signal) => resolve({ kind: 'exit', code, signal, at: performance.now() }))
    child?.on('error', (cause) => resolve({ kind: 'failed', cause }))
  })
}

function ourEnd(pipe: Pipe | null, nodes: Readable | null | undefined): Readable {
  if (pipe) return readingEnd(pipe)
  if (nodes) return nodes
  throw new Error('neither a pipe nor a stream was made')
}

/** Ignores errors, because a child need not read its input. */
function feed(stream: Writable, bytes: string | Uint8Array): Writable {
  stream.on('error', () => {})
  stream.end(bytes)
  return stream
}

interface InputFile {
  /** Holds the content. A child must not get this descriptor but one opened anew, which is at the beginning. */
  readonly held: number
  openAnew(): number
  /** Call after the last reader is gone, otherwise its content would change under a reader. */
  giveBack(isUnread: boolean): void
}

/**
 * A file without a name that holds a child's whole stdin. Unlike a pipe it cannot break when the child does not read, and
 * unlike Node's socket it can be opened again through `/dev/stdin`. null where it cannot be made: the caller then writes
 * into a stream. Files are used again: making one costs more than all the rest of starting a program.
 */
function openInputFile(content: string | Uint8Array): InputFile | null {
  if (process.platform !== 'linux') return null
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  let held: number | null = null
  try {
    held = idle.pop() ?? makeFile()
    for (let at = 0; at < bytes.length; ) at += fs.writeSync(held, bytes, at, bytes.length - at, at)
    // Never to nothing first: some file systems then write the new content through to the disk.
    if (fs.fstatSync(held).size > bytes.length) fs.ftruncateSync(held, bytes.length)
    return inputFile(held)
  } catch {
    if (held !== null) fs.closeSync(held)
    return null
  }
}

const idle: number[] = []
const idleMax = 64

function inputFile(held: number): InputFile {
  return {
    held,
    openAnew: () => fs.openSync(`/proc/self/fd/${held}`, fs.constants.O_RDONLY),
    giveBack: (isUnread) => {
      if (isUnread && idle.length < idleMax) idle.push(held)
      else fs.closeSync(held)
    },
  }
}

function makeFile(): number {
  const path = join(tmpdir(), `gantry-stdin-${process.pid}-${randomSuffix(12)}`)
  const fd = fs.openSync(path, 'wx+', 0o600)
  fs.unlinkSync(path)
  return fd
}
