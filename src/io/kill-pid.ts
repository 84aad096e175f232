/** Ends a process at once. false when it is gone already, or another user's. */
export function killPid(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}
