export type CappedOutput = ReturnType<typeof cappedOutput>

/** The output of a program, or its beginning and end when it exceeds the cap. Never stores more than `maxBytes`. */
export function cappedOutput(maxBytes: number) {
  const headBytes = Math.ceil(maxBytes / 2)
  const tailBytes = maxBytes - headBytes
  // The head fills once, the rest is a ring. Below the cap this is the output in order.
  let store = Buffer.alloc(0)
  let total = 0

  const grow = (needed: number): void => {
    if (needed <= store.length) return
    const larger = Buffer.allocUnsafeSlow(Math.min(maxBytes, Math.max(needed, store.length * 2, 4096)))
    store.copy(larger)
    store = larger
  }

  const push = (chunk: Uint8Array): void => {
    grow(Math.min(maxBytes, total + chunk.length))
    const intoHead = Math.min(Math.max(headBytes - total, 0), chunk.length)
    if (intoHead > 0) store.set(chunk.subarray(0, intoHead), total)
    total += intoHead
    let rest = chunk.subarray(intoHead)
    if (rest.length > tailBytes) {
      total += rest.length - tailBytes
      rest = rest.subarray(rest.length - tailBytes)
    }
    while (rest.length > 0) {
      const at = headBytes + ((total - headBytes) % tailBytes)
      const fitting = rest.subarray(0, maxBytes - at)
      store.set(fitting, at)
      total += fitting.length
      rest = rest.subarray(fitting.length)
    }
  }

  const parts = () => {
    if (total <= maxBytes) return { head: store.subarray(0, total), tail: Buffer.alloc(0), cutBytes: 0 }
    const oldest = tailBytes === 0 ? headBytes : headBytes + ((total - headBytes) % tailBytes)
    const head = withoutBrokenEnd(store.subarray(0, headBytes))
    const tail = withoutBrokenStart(
      Buffer.concat([store.subarray(oldest, maxBytes), store.subarray(headBytes, oldest)]),
    )
    return { head, tail, cutBytes: total - head.length - tail.length }
  }

  return {
    push,
    /** The bytes kept. `tail` is empty unless something was cut between the two. */
    parts,
    get totalBytes() {
      return total
    },
  }
}

/** The output as text, with a line between head and tail that counts the missing bytes. */
export function cappedText(output: CappedOutput): string {
  const { head, tail, cutBytes } = output.parts()
  if (cutBytes === 0) return head.toString('utf8')
  const before = head.toString('utf8')
  const lineEnd = before === '' || before.endsWith('\n') ? '' : '\n'
  return `${before}${lineEnd}[... ${cutBytes} bytes cut ...]\n${tail.toString('utf8')}`
}

/** Drops the beginning of a character whose rest was cut. */
function withoutBrokenEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (isContinuation(byte)) continue
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** Drops the end of a character whose beginning was cut. */
function withoutBrokenStart(bytes: Buffer): Buffer {
  let skip = 0
  while (skip < 3 && isContinuation(bytes[skip] ?? 0)) skip++
  return bytes.subarray(skip)
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
