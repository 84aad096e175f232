import type { SqliteDatabase } from '../../io/sqlite.ts'

const lookEveryMs = 50

/** Notifies listeners of changes by this process at once, and by other processes shortly after. */
export function watchDatabase(database: SqliteDatabase) {
  const listeners = new Set<() => void>()
  const versionQuery = database.prepare('PRAGMA data_version')
  const version = (): unknown => versionQuery.get()?.data_version
  let seen = version()
  let timer: NodeJS.Timeout | null = null
  let isPending = false
  const notifyAll = (): void => {
    isPending = false
    for (const listener of listeners) listener()
  }
  const look = (): void => {
    const found = version()
    if (found === seen) return
    seen = found
    notifyAll()
  }
  const stop = (): void => {
    if (timer !== null) clearInterval(timer)
    timer = null
  }
  return {
    /** Several changes in quick succession cause one notification. */
    notify: (): void => {
      if (isPending || listeners.size === 0) return
      isPending = true
      setImmediate(notifyAll)
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
