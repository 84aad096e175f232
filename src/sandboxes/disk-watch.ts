import { monotonicMs } from '../io/clock.ts'
import { treeBytes } from '../io/directory.ts'
import { deviceOf } from '../io/file-owner.ts'
import { freeSpace } from '../io/host.ts'

/** Watches how much disk a step uses. */
export interface DiskWatch extends Disposable {
  /** Looks once more, after the step has ended. */
  isExceeded(): boolean
}

const everyMs = 100
/** Others free space on the same disks, so that it need not shrink while a step writes. At most 5% of the time goes into counting for this. */
const countEveryMs = 1000
const timesItsCount = 20

/**
 * Calls `exceeded` once when these directories together take more than this. They are counted when the free space of their disks has shrunk
 * so much that it could be, and otherwise now and then: counting takes long, asking for the free space does not.
 */
export function watchDisk(paths: readonly string[], maxBytes: number, exceeded: () => void): DiskWatch {
  const disks = [...new Map(paths.map((path) => [deviceOf(path), path])).values()]
  const free = (): number => disks.reduce((sum, path) => sum + (freeSpace(path)?.bytes ?? 0), 0)
  let counted = 0
  let freeThen = free()
  let dueMs = monotonicMs() + countEveryMs
  let isOver = false
  const look = (share: number): boolean => {
    const [now, beganMs] = [free(), monotonicMs()]
    if (!isOver && (freeThen - now > (maxBytes - counted) * share || beganMs > dueMs)) {
      counted = paths.reduce((sum, path) => sum + treeBytes(path), 0)
      freeThen = now
      isOver = counted > maxBytes
      const endedMs = monotonicMs()
      dueMs = endedMs + Math.max(countEveryMs, timesItsCount * (endedMs - beganMs))
    }
    return isOver
  }
  const timer = setInterval(() => {
    if (!look(1)) return
    clearInterval(timer)
    exceeded()
  }, everyMs)
  return { isExceeded: () => look(0.5), [Symbol.dispose]: () => clearInterval(timer) }
}
