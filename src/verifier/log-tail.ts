const keptOfLine = 4096

/**
 * The last lines of a log while it is written, in bounded memory for any length of the log or its lines. Lines end with a newline; a
 * carriage return before it belongs to the line. The last line needs no newline.
 */
export function logTail(maxLines: number) {
  let done: string[] = []
  let line = emptyLine
  return {
    push: (text: string): void => {
      const [first = '', ...rest] = text.split('\n')
      line = extended(line, first)
      for (const next of rest) {
        done.push(shown(line))
        if (done.length >= maxLines * 2) done = done.slice(-maxLines)
        line = extended(emptyLine, next)
      }
    },
    /** Without the final newline. */
    text: (): string => (line.chars === 0 ? done : [...done, shown(line)]).slice(-maxLines).join('\n'),
  }
}

/** Keeps the beginning and the end of a long line. */
interface Line {
  readonly head: string
  readonly tail: string
  readonly chars: number
}

const emptyLine: Line = { head: '', tail: '', chars: 0 }

function extended(line: Line, more: string): Line {
  if (more === '') return line
  const room = keptOfLine - line.head.length
  const tail = (line.tail + more.slice(room)).slice(-keptOfLine)
  return { head: line.head + more.slice(0, room), tail, chars: line.chars + more.length }
}

function shown({ head, tail, chars }: Line): string {
  const cut = chars - head.length - tail.length
  if (cut === 0) return head + tail
  return `${head}[... ${cut} characters cut ...]${tail}`.toWellFormed()
}
