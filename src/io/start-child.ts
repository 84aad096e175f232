import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { ChildExit, ChildRequest } from './child.ts'
import { type InputFile, openInputFile } from './input-file.ts'
import { openPipe, type Pipe } from './pipe.ts'
import { spawnElsewhere } from './spawn-client.ts'
import { countStart, needsServer } from './spawn-count.ts'

export interface StartedChild {
  /** undefined when it could not be started. */
  readonly pid: number | undefined
  readonly exit: Promise<ChildExit>
  readonly stdout: Readable
  readonly stderr: Readable
  /** Lets go of everything that was opened for it. `isAllGone`: nothing that it started can read its input any more. */
  release(isAllGone: boolean): void
}

/** Starts a program as the leader of a session of its own. Throws, or tells by `exit`, when it cannot be started. */
export async function startChild(request: ChildRequest): Promise<StartedChild> {
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
      pid: elsewhere?.pid ?? here?.pid,
      exit: elsewhere?.exit ?? exitOf(here),
      stdout,
      stderr,
      release: (isAllGone) => {
        for (const stream of [stdinStream, stdout, stderr]) stream?.destroy()
        input?.giveBack(isAllGone)
      },
    }
  } catch (cause) {
    for (const pipe of [output, errors]) if (pipe) abandon(pipe)
    input?.giveBack(true)
    throw cause
  } finally {
    for (const pipe of [output, errors]) if (pipe) closeSync(pipe.theirs)
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
    countStart()
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
    if (inputFd !== undefined) closeSync(inputFd)
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

function abandon(pipe: Pipe): void {
  closeSync(pipe.ours)
  pipe.giveBack(true)
}

function readingEnd(pipe: Pipe): Readable {
  let hasEnded = false
  return new Socket({ fd: pipe.ours, readable: true, writable: false })
    .once('end', () => {
      hasEnded = true
    })
    .once('close', () => pipe.giveBack(hasEnded))
}

/** A child may stop reading, or never begin: that is its own affair. */
function feed(stream: Writable, bytes: string | Uint8Array): Writable {
  stream.on('error', () => {})
  stream.end(bytes)
  return stream
}
