import { type FeedFilter, passes } from './contract.ts'
import type { Frame } from './frame.ts'

/** The last frames, within a bound: who is only a little behind finds everything here and asks no database. */
export interface Ring {
  push(frame: Frame): void
  /** Everything after this id is here. */
  readonly floor: number
  readonly bytes: number
  /** In order of id. */
  after(id: number, filter: FeedFilter): Iterable<Frame>
}

export function createRing(floor: number, maxBytes: number): Ring {
  const frames: Frame[] = []
  let bytes = 0
  let lowest = floor
  /** As many as are dropped at once: moving all others for each one would cost more than the rest of the work. */
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
    push(frame) {
      frames.push(frame)
      bytes += frame.bytes.length
      if (bytes > maxBytes) evict()
    },
    get floor() {
      return lowest
    },
    get bytes() {
      return bytes
    },
    *after(id, filter) {
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
