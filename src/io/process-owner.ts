import { hostname } from 'node:os'
import { errnoOf } from './fs-error.ts'
import { readProcess } from './process-table.ts'

/** Identifies a process: a pid is reused, but not with the same start time on the same host. */
export interface ProcessOwner {
  readonly pid: number
  /** null when the system does not report the start time. */
  readonly startTicks: number | null
  readonly host: string
}

export function thisProcess(): ProcessOwner {
  return { pid: process.pid, startTicks: readProcess(process.pid)?.startTicks ?? null, host: hostname() }
}

/** A process on another host counts as alive, because it cannot be checked. */
export function isOwnerAlive({ pid, startTicks, host }: ProcessOwner): boolean {
  if (host !== hostname()) return true
  if (pid <= 0) return false
  if (readProcess(process.pid) === null) return answersSignals(pid)
  const holder = readProcess(pid)
  return holder?.runsProgram === true && (startTicks === null || startTicks === holder.startTicks)
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return errnoOf(cause) === 'EPERM'
  }
}
