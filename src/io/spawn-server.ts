// A small process that starts programs for a large one. Node forks to start a program, and a fork takes time in proportion to the
// memory of the forking process. Measured with 500 trials of /bin/true: 3.3 s CPU with this server, 4.6 s without it.
// When the large process dies in any way, the server ends the programs.
import { spawn } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { markVariable } from './child.ts'
import { endTree, processTree } from './process-tree.ts'
import type { SpawnOrder, SpawnReply, SpawnWatch } from './spawn-protocol.ts'

const orderer = process.ppid
/** By pid: the mark in the environment of each program and of everything it started. */
const running = new Map<number, string>()

process.on('message', (message) => {
  const order = message as SpawnOrder | SpawnWatch
  if ('file' in order) start(order)
  else if (order.mark === null) running.delete(order.pid)
  else running.set(order.pid, order.mark)
})
process.on('disconnect', () => {
  const ended = [...running].map(([pid, mark]) => endTree(processTree(pid, mark, 0), 0))
  void Promise.all(ended).then(() => process.exit(0))
})

function start(order: SpawnOrder): void {
  const opened: number[] = []
  try {
    const [input, output, errors] = order.stdio
    const stdin = input === null ? 'ignore' : open(input, constants.O_RDONLY, opened)
    const stdout = open(output, constants.O_WRONLY, opened)
    const stderr = open(errors, constants.O_WRONLY, opened)
    const { file, args, cwd, env } = order
    const child = spawn(file, args, { cwd, env, detached: true, stdio: [stdin, stdout, stderr] })
    child.on('error', (cause) => fail(order.id, cause))
    if (child.pid === undefined) return
    const { pid } = child
    running.set(pid, env[markVariable] ?? '')
    child.on('exit', (code, signal) => {
      running.delete(pid)
      reply({ kind: 'exited', id: order.id, code, signal })
    })
    reply({ kind: 'started', id: order.id, pid })
  } catch (cause) {
    fail(order.id, cause)
  } finally {
    for (const fd of opened) closeSync(fd)
  }
}

/** The client's descriptor, reopened through /proc. */
function open(fd: number, flags: number, opened: number[]): number {
  const own = openSync(`/proc/${orderer}/fd/${fd}`, flags)
  opened.push(own)
  return own
}

function fail(id: number, cause: unknown): void {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined
  reply({ kind: 'failed', id, message: cause instanceof Error ? cause.message : String(cause), code })
}

function reply(message: SpawnReply): void {
  process.send?.(message)
}
