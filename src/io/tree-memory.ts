import { readFileSync } from 'node:fs'
import { listPids, readProcess } from './process-table.ts'

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
