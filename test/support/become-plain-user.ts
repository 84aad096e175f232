const nobody = 65_534

/** Gives up being root for the rest of this process, as nobody could undo. Only for a test file that has its process to itself. */
export function becomePlainUser(): void {
  if (process.getuid?.() !== 0) return
  process.setgroups?.([])
  process.setgid?.(nobody)
  process.setuid?.(nobody)
}
