const nobody = 65_534

/** Drops root for the rest of this process; it cannot be undone. Only for a test file that runs in its own process. */
export function becomePlainUser(): void {
  if (process.getuid?.() !== 0) return
  process.setgroups?.([])
  process.setgid?.(nobody)
  process.setuid?.(nobody)
}
