export interface LineSplitter {
  push(chunk: Uint8Array): void
  /** Hands out what came after the last line break. */
  end(): void
}

/** Past this a line is handed out in pieces: an agent that never breaks its line must not eat our memory. */
const maxLineLength = 16 * 1024 * 1024

/**
 * Lines of a byte stream however it was cut: in the middle of a line, of a character, of a CRLF. Bytes that are no UTF-8
 * become U+FFFD.
 */
export function createLineSplitter(onLine: (line: string) => void): LineSplitter {
  const decoder = new TextDecoder()
  // Pieces of the unfinished line: joining only at its end keeps a line of many chunks linear.
  let pieces: string[] = []
  let length = 0
  const flush = (rest: string): void => {
    const line = pieces.length === 0 ? rest : pieces.join('') + rest
    pieces = []
    length = 0
    onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }
  const take = (text: string): void => {
    let start = 0
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', start)) {
      flush(text.slice(start, at))
      start = at + 1
    }
    if (start === text.length) return
    pieces.push(text.slice(start))
    length += text.length - start
    if (length > maxLineLength) flush('')
  }
  return {
    push: (chunk) => take(decoder.decode(chunk, { stream: true })),
    end: () => {
      take(decoder.decode())
      if (length > 0) flush('')
    },
  }
}
