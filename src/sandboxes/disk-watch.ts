import { treeBytes } from '../io/directory.ts'
import { deviceOf } from '../io/file-owner.ts'
import { freeSpace } from '../io/host.ts'

/** Watches how much disk a step uses. */
export interface DiskWatch extends Disposable {
  /** Looks once more, after the step has ended. */
  isExceeded(): boolean
}

const everyMs = 100

/**
 * Calls `exceeded` once when these directories together take more than this. They are counted only when the free space
 * of their disks has shrunk so much that it could be: counting takes long, asking for the free space does not.
 */
export function watchDisk(paths: readonly string[], maxBytes: number, exceeded: () => void): DiskWatch {
  const disks = [...new Map(paths.map((path) => [deviceOf(path), path])).values()]
  const free = (): number => disks.reduce((sum, path) => sum + (freeSpace(path)?.bytes ?? 0), 0)
  let counted = 0
  let freeThen = free()
  let isOver = false
  const look = (share: number): boolean => {
    const now = free()
    if (!isOver && freeThen - now > (maxBytes - counted) * share) {
      counted = paths.reduce((sum, path) => sum + treeBytes(path), 0)
      freeThen = now
      isOver = counted > maxBytes
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
