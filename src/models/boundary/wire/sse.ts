import type { SseEvent } from './contract.ts'

const lineBreak = /\r\n|\n|\r/

/** One event as it is sent. A line break in the data comes back as `\n`; a name is one line. */
export function encodeSse({ event, data }: SseEvent): string {
  const name = event === undefined ? '' : `event: ${event.split(lineBreak).join(' ')}\n`
  return `${name}data: ${data.split(lineBreak).join('\ndata: ')}\n\n`
}

export interface SseReader {
  push(chunk: Uint8Array | string): void
  /** What is left without its blank line is no event: the stream was cut. */
  end(): void
}

/** Puts events together from bytes, wherever they are cut. Comments and fields other than `event` and `data` are left out. */
export function createSseReader(onEvent: (event: SseEvent) => void): SseReader {
  const decoder = new TextDecoder()
  let rest = ''
  let afterReturn = false
  let name: string | undefined
  let data: string[] = []
  const readLine = (line: string): void => {
    if (line === '') {
      if (data.length > 0) onEvent({ ...(name !== undefined && { event: name }), data: data.join('\n') })
      name = undefined
      data = []
      return
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') name = value
    else if (field === 'data') data.push(value)
  }
  const read = (text: string): void => {
    if (text === '') return
    // A carriage return ends its line at once; a line feed that comes after it in the next piece belongs to it.
    const fresh = afterReturn && text.startsWith('\n') ? text.slice(1) : text
    afterReturn = text.endsWith('\r')
    const [first = '', ...others] = fresh.split(lineBreak)
    rest += first
    for (const line of others) {
      readLine(rest)
      rest = line
    }
  }
  return {
    push: (chunk) => read(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })),
    end: () => read(decoder.decode()),
  }
}
