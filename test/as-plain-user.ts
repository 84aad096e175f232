/** Runs synchronous code without the powers of root, to whom no file is forbidden. Does nothing special for other users. */
export function asPlainUser<T>(run: () => T): T {
  if (process.geteuid?.() !== 0) return run()
  process.seteuid?.(65_534)
  try {
    return run()
  } finally {
    process.seteuid?.(0)
  }
}
