import { type FeedFilter, passes } from './contract.ts'
import type { Frame } from './frame.ts'

/** The last frames, within a size limit, so clients that are a little behind need no database read. */
export function createRing(floor: number, maxBytes: number) {
  const frames: Frame[] = []
  let bytes = 0
  let lowest = floor
  /** How many are dropped at once, because moving the rest for each one is slow. */
  const evict = (): void => {
    let count = 0
    while (bytes > maxBytes * 0.9 && count < frames.length) {
      const frame = frames[count]
      bytes -= frame?.bytes.length ?? 0
      lowest = frame?.id ?? lowest
      count += 1
    }
    frames.splice(0, count)
  }
  return {
    push(frame: Frame): void {
      frames.push(frame)
      bytes += frame.bytes.length
      if (bytes > maxBytes) evict()
    },
    /** The ring has every frame after this id. */
    get floor() {
      return lowest
    },
    get bytes() {
      return bytes
    },
    /** In order of id. */
    *after(id: number, filter: FeedFilter): Generator<Frame> {
      for (let at = firstAfter(frames, id); at < frames.length; at += 1) {
        const frame = frames[at]
        if (frame !== undefined && passes(filter, frame)) yield frame
      }
    },
  }
}

function firstAfter(frames: readonly Frame[], id: number): number {
  let [low, high] = [0, frames.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((frames[middle]?.id ?? 0) > id) high = middle
    else low = middle + 1
  }
  return low
}
