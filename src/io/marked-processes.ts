import { environmentOf, listPids } from './process-table.ts'

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
