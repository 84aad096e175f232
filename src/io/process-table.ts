import { existsSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs'
import { orElse } from './fs-error.ts'

export type ProcessEntry = NonNullable<ReturnType<typeof readProcess>>

/** null when there is no such process, or no table to look into. */
export function readProcess(pid: number) {
  const text = readProc(`/proc/${pid}/stat`)
  if (text === null) return null
  // The second field is the program's name in parentheses, which may contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return {
    pid,
    parentPid: Number(fields[1]),
    groupId: Number(fields[2]),
    sessionId: Number(fields[3]),
    /** Clock ticks from boot to its start. Identifies the process together with the pid, which is reused. */
    startTicks: Number(fields[19]),
    /** False for a thread of the kernel, and for a process that is dead but not yet collected by its parent. */
    runsProgram: fields[0] !== 'Z' && fields[0] !== 'X' && (Number(fields[6]) & kernelThreadFlag) === 0,
  }
}

const kernelThreadFlag = 0x200000

/** Newest first, judged by pid. null on systems without /proc, or when /proc belongs to another pid namespace. */
export function listPids(): number[] | null {
  if (!hasTable()) return null
  const pids: number[] = []
  for (const name of readdirSync('/proc')) {
    const first = name.charCodeAt(0)
    if (first > 48 && first < 58) pids.push(Number(name))
  }
  return pids.reverse()
}

/** Also true for a thread's id. */
export function hasProcess(pid: number): boolean {
  return existsSync(`/proc/${pid}`)
}

/** The environment of a process. Also empty during an exec; null when it cannot be read or the process is gone. */
export function environmentOf(pid: number): string | null {
  return readProc(`/proc/${pid}/environ`)
}

/** When this process was started, in the ticks of `startTicks`. 0 when the system does not report it. */
export const ownStartTicks = once(() => readProcess(process.pid)?.startTicks || 0)

/** The last assigned pid of a process or thread. null when the system does not report a real value. */
export function lastPid(): number | null {
  const fd = loadFile()
  if (fd === null) return null
  const text = loadText.toString('latin1', 0, readSync(fd, loadText, 0, loadText.length, 0))
  const last = Number(text.slice(text.lastIndexOf(' ') + 1))
  return last > 0 ? last : null
}

/** How many pids there are before they are reused. */
export const pidLimit = once(() => Number(readProc('/proc/sys/kernel/pid_max') ?? 32_768))

const hasTable = once(() => orElse(null, () => readlinkSync('/proc/self')) === String(process.pid))

const loadText = Buffer.alloc(128)

/** Stays open, because it is read after every exec. null when a container manager mounts a fake file over it. */
const loadFile = once(() => {
  const mounts = hasTable() ? readProc('/proc/self/mountinfo') : null
  return mounts === null || mounts.includes(' /proc/loadavg ') ? null : openSync('/proc/loadavg', 'r')
})

function readProc(path: string): string | null {
  return orElse(null, () => readFileSync(path, 'utf8'))
}

function once<T>(compute: () => T): () => T {
  let known: { value: T } | undefined
  return () => {
    known ??= { value: compute() }
    return known.value
  }
}

/** Kills a process. Returns false when it is already gone or another user's. */
export function killPid(pid: number): boolean {
  return orElse(false, () => process.kill(pid, 'SIGKILL'))
}

/** Kills every process started with this `NAME=value` in its environment. Returns their number. */
export function endMarkedProcesses(variable: string): number {
  let ended = 0
  for (const pid of listPids() ?? []) {
    if (pid === process.pid || environmentOf(pid)?.split('\0').includes(variable) !== true) continue
    if (killPid(pid)) ended += 1
  }
  return ended
}

/**
 * Private memory of a process and its descendants, without memory mapped from files. An orphan becomes a child of the first process of
 * its pid namespace, so none is missed below that one.
 */
export function treeMemoryBytes(rootPid: number): number {
  const parents = new Map<number, number>()
  for (const pid of listPids() ?? []) {
    const entry = readProcess(pid)
    if (entry !== null) parents.set(pid, entry.parentPid)
  }
  const isBelow = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at))
      if (at === rootPid) return true
    return false
  }
  let sum = 0
  for (const pid of parents.keys()) if (isBelow(pid)) sum += privateBytes(pid)
  return sum
}

function privateBytes(pid: number): number {
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readProc(`/proc/${pid}/status`) ?? '')?.[1] ?? 0) * 1024
}
