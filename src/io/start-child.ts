import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { openInputFile } from './input-file.ts'
import { openPipe, type Pipe } from './pipe.ts'

export interface ChildRequest {
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: string | Uint8Array
}

export interface StartedChild {
  readonly child: ChildProcess
  /** null when there is nothing to write any more. */
  readonly stdin: Writable | null
  readonly stdout: Readable
  readonly stderr: Readable
}

/** Starts a program as the leader of a session of its own. Throws, or lets the child emit `error`, when it cannot be started. */
export function startChild({ argv: [file, ...args], cwd, env, stdin = '' }: ChildRequest): StartedChild {
  const input = stdin.length > 0 ? openInputFile(stdin) : null
  const pipes = [openPipe(), openPipe()]
  const [output, errors] = pipes
  try {
    const child = spawn(file, args, {
      cwd,
      env,
      detached: true,
      windowsHide: true,
      stdio: [
        stdin.length > 0 ? (input ?? 'pipe') : 'ignore',
        output?.theirs ?? 'pipe',
        errors?.theirs ?? 'pipe',
      ],
    })
    return {
      child,
      stdin: child.stdin === null ? null : feed(child.stdin, stdin),
      stdout: ourEnd(output, child.stdout),
      stderr: ourEnd(errors, child.stderr),
    }
  } catch (cause) {
    for (const pipe of pipes) if (pipe) abandon(pipe)
    throw cause
  } finally {
    for (const pipe of pipes) if (pipe) closeSync(pipe.theirs)
    if (input !== null) closeSync(input)
  }
}

function ourEnd(pipe: Pipe | null | undefined, nodes: Readable | null): Readable {
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
