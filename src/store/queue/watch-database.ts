import type { Database } from '../../io/sqlite.ts'

const lookEveryMs = 50

/** Tells listeners of this process at once, and of what other processes changed within a moment. */
export function watchDatabase(database: Database) {
  const listeners = new Set<() => void>()
  const versionQuery = database.prepare('PRAGMA data_version')
  const version = (): unknown => versionQuery.get()?.data_version
  let seen = version()
  let timer: NodeJS.Timeout | null = null
  let isPending = false
  const tellAll = (): void => {
    isPending = false
    for (const listener of listeners) listener()
  }
  const look = (): void => {
    const found = version()
    if (found === seen) return
    seen = found
    tellAll()
  }
  const stop = (): void => {
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  return {
    /** Many changes in a row are told once. */
    tell: (): void => {
      if (isPending || listeners.size === 0) return
      isPending = true
      setImmediate(tellAll)
    },
    watch: (listener: () => void): (() => void) => {
      listeners.add(listener)
      timer ??= setInterval(look, lookEveryMs).unref()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) stop()
      }
    },
    close: (): void => {
      listeners.clear()
      stop()
    },
  }
}
