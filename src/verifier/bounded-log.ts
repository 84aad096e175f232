/** Passes text on up to a bound; of what comes after it only the end is kept, and written when the log is finished. */
export interface BoundedLog {
  write(text: string): void
  finish(): void
}

export interface LogBound {
  /** Passed on at once. */
  readonly headBytes: number
  /** Kept of the rest, about. */
  readonly tailBytes: number
}

/** A step that prints without end must fill neither the disk nor the memory, and its end says most. */
export function boundedLog({ headBytes, tailBytes }: LogBound, write: (bytes: Buffer) => void): BoundedLog {
  let room = headBytes
  let kept: Buffer[] = []
  let keptBytes = 0
  let cutBytes = 0
  const keep = (bytes: Buffer): void => {
    kept.push(bytes)
    keptBytes += bytes.length
    while (kept.length > 1 && keptBytes - (kept[0]?.length ?? 0) >= tailBytes) {
      const length = kept.shift()?.length ?? 0
      keptBytes -= length
      cutBytes += length
    }
  }
  return {
    write: (text) => {
      const bytes = Buffer.from(text)
      if (room <= 0) {
        keep(bytes)
        return
      }
      const end = bytes.length <= room ? bytes.length : characterStart(bytes, room)
      write(bytes.subarray(0, end))
      room = end === bytes.length ? room - end : 0
      // A copy: what is kept must not hold on to the whole piece.
      if (end < bytes.length) keep(Buffer.from(bytes.subarray(end)))
    },
    finish: () => {
      if (keptBytes === 0) return
      const all = Buffer.concat(kept)
      const start = all.length <= tailBytes ? 0 : lineStart(all, all.length - tailBytes)
      const cut = cutBytes + start
      if (cut > 0) write(Buffer.from(`\n[... ${cut} bytes cut ...]\n`))
      write(all.subarray(start))
      kept = []
      keptBytes = 0
    },
  }
}

function characterStart(bytes: Buffer, at: number): number {
  let start = at
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start -= 1
  return start
}

/** The next line if one begins soon, else the next character. */
function lineStart(bytes: Buffer, at: number): number {
  const newline = bytes.indexOf(10, at)
  if (newline !== -1 && newline - at < 65_536) return newline + 1
  let start = at
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1
  return start
}
