import { treeMemoryBytes } from '../../io/process-table.ts'
import { watchEveryMs } from './limits.ts'

/** Calls `exceeded` once when everything below the process takes more than this. `root` is asked until it knows. */
export function watchMemory(root: () => number | null, maxBytes: number, exceeded: () => void): Disposable {
  const timer = setInterval(() => {
    const pid = root()
    if (pid === null || treeMemoryBytes(pid) <= maxBytes) return
    clearInterval(timer)
    exceeded()
  }, watchEveryMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
