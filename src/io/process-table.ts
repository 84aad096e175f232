import { existsSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs'

/** One process as the system's table shows it. */
export interface ProcessEntry {
  readonly pid: number
  readonly parentPid: number
  readonly groupId: number
  readonly sessionId: number
  /** Clock ticks from boot to its start. With the pid this names one process for ever: pids are used again. */
  readonly startTicks: number
  /** False for a thread of the kernel, and for a process that is dead but not yet collected by its parent. */
  readonly runsProgram: boolean
}

/** null when there is no such process, or no table to look into. */
export function readProcess(pid: number): ProcessEntry | null {
  const text = readProc(`/proc/${pid}/stat`)
  if (text === null) return null
  // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return {
    pid,
    parentPid: Number(fields[1]),
    groupId: Number(fields[2]),
    sessionId: Number(fields[3]),
    startTicks: Number(fields[19]),
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

/** What a process was started with. Empty in the middle of an exec, too; null when it cannot be read, or the process is gone. */
export function environmentOf(pid: number): string | null {
  return readProc(`/proc/${pid}/environ`)
}

/** When this process was started, in the ticks of `startTicks`. 0 when the system does not report it. */
export const ownStartTicks = once(() => readProcess(process.pid)?.startTicks || 0)

/** The pid given out last, to a process or a thread. null when the system does not report it, or reports an invented value. */
export function lastPid(): number | null {
  const fd = loadFile()
  if (fd === null) return null
  const text = loadText.toString('latin1', 0, readSync(fd, loadText, 0, loadText.length, 0))
  const last = Number(text.slice(text.lastIndexOf(' ') + 1))
  return last > 0 ? last : null
}

/** How many pids there are before they are used again. */
export const pidLimit = once(() => Number(readProc('/proc/sys/kernel/pid_max') ?? 32_768))

const hasTable = once(() => {
  try {
    return readlinkSync('/proc/self') === String(process.pid)
  } catch {
    return false
  }
})

const loadText = Buffer.alloc(128)

/** Stays open: it is read after every exec. Container managers lay a stale imitation over it, which is of no use. */
const loadFile = once(() => {
  const mounts = hasTable() ? readProc('/proc/self/mountinfo') : null
  return mounts === null || mounts.includes(' /proc/loadavg ') ? null : openSync('/proc/loadavg', 'r')
})

function readProc(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

function once<T>(compute: () => T): () => T {
  let known: { value: T } | undefined
  return () => {
    known ??= { value: compute() }
    return known.value
  }
}

/** Ends a process at once. false when it is gone already, or another user's. */
export function killPid(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

/** Kills every process that was started with this `NAME=value` in its environment; answers with how many there were. */
export function endMarkedProcesses(variable: string): number {
  let ended = 0
  for (const pid of listPids() ?? []) {
    if (pid === process.pid || environmentOf(pid)?.split('\0').includes(variable) !== true) continue
    try {
      process.kill(pid, 'SIGKILL')
      ended += 1
    } catch {
      // It went by itself in the meantime.
    }
  }
  return ended
}

/**
 * Memory of a process and everything below it that is nobody else's: what is mapped from files does not count. A process whose
 * parent died hangs below the first process of its pid namespace, so below that one nobody is missed.
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
  try {
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0
  }
}
