import { spawn } from 'node:child_process'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { markVariable } from './child.ts'
import type { ExecRequest } from './exec.ts'
import { randomSuffix } from './ids.ts'
import { endTree, hasLeftovers, processTree, rootIsGone, treeIsGone } from './process-tree.ts'
import { endWithUs } from './spawn-client.ts'

/** Chunks are passed on as they arrive. */
export type OpenProcessRequest = Pick<ExecRequest, 'argv' | 'cwd' | 'env' | 'onStdout' | 'onStderr'>

/** An interactive program. The first part is the interface that libraries expect of a child process. */
export interface OpenProcess {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly killed: boolean
  readonly exitCode: number | null
  readonly signalCode: NodeJS.Signals | null
  kill(signal: NodeJS.Signals): boolean
  readonly on: ListenerChange
  readonly once: ListenerChange
  readonly off: ListenerChange

  readonly pid: number | undefined
  /** Settles when the program has exited; `error` when it could not be started. */
  readonly exit: Promise<ProcessExit>
  /** Settles when it has exited and every holder of its pipes has closed them. */
  readonly closed: Promise<void>
  /**
   * Waits up to `waitMs` for the program to exit, then ends it with SIGTERM and, after `graceMs`, SIGKILL. Also ends everything it
   * started. Returns the processes that could not be ended.
   */
  end(patience: { readonly waitMs: number; readonly graceMs: number }): Promise<readonly number[]>
}

export interface ProcessExit {
  readonly code: number | null
  readonly signal: string | null
  readonly error?: Error
}

interface ListenerChange {
  (event: 'exit', listener: (code: number | null, signal: NodeJS.Signals | null) => void): void
  (event: 'error', listener: (error: Error) => void): void
}

/** Starts a program as the leader of a new session, with all three streams open. */
export function openProcess({ argv, cwd, env, onStdout, onStderr }: OpenProcessRequest): OpenProcess {
  const [file, ...args] = argv
  const mark = `p${randomSuffix(16)};`
  const bornAfterSecs = process.uptime()
  const startedAt = performance.now()
  const child = spawn(file, args, {
    cwd,
    env: { ...env, [markVariable]: outerMark + mark },
    detached: true,
    windowsHide: true,
    stdio: 'pipe',
  })
  const { promise: exit, resolve } = Promise.withResolvers<ProcessExit>()
  const { promise: closed, resolve: close } = Promise.withResolvers<void>()
  child.once('close', () => close())
  const tree = child.pid === undefined ? null : processTree(child.pid, mark, bornAfterSecs)
  if (tree !== null) endWithUs({ pid: tree.rootPid, mark })
  child.once('error', (error) => {
    if (child.pid === undefined) resolve({ code: null, signal: null, error })
  })
  child.once('exit', (code, signal) => {
    if (tree !== null) rootIsGone(tree)
    resolve({ code, signal })
  })
  // The program may stop reading.
  child.stdin.on('error', () => {})
  child.stderr.on('data', (chunk: Buffer) => onStderr?.(chunk)).on('error', () => {})
  // A late reader must not miss earlier output.
  const stdout = new PassThrough()
  child.stdout.on('data', (chunk: Buffer) => onStdout?.(chunk)).on('error', () => stdout.end())
  child.stdout.pipe(stdout)

  const end = async (waitMs: number, graceMs: number): Promise<readonly number[]> => {
    if (tree === null) return []
    const late = new AbortController()
    const gone = await Promise.race([
      exit.then(() => true),
      sleep(waitMs, false, { signal: late.signal }).catch(() => false),
    ])
    late.abort()
    let survivors: readonly number[] = []
    if (!gone) survivors = await endTree(tree, graceMs)
    else if (hasLeftovers(tree, performance.now() - startedAt)) survivors = await endTree(tree, 0)
    treeIsGone(tree)
    endWithUs({ pid: tree.rootPid, mark: null })
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    stdout.end()
    return survivors
  }
  let ended: Promise<readonly number[]> | null = null

  return {
    stdin: child.stdin,
    stdout,
    pid: child.pid,
    exit,
    closed,
    get killed() {
      return child.killed
    },
    get exitCode() {
      return child.exitCode
    },
    get signalCode() {
      return child.signalCode
    },
    kill: (signal) => child.kill(signal),
    on: child.on.bind(child),
    once: child.once.bind(child),
    off: child.off.bind(child),
    end: ({ waitMs, graceMs }) => {
      ended ??= end(waitMs, graceMs)
      return ended
    },
  }
}

const outerMark = process.env[markVariable] ?? ''
