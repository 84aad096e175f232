import type { EncodedReply, SseEvent } from './contract.ts'

const lineBreak = /\r\n|\n|\r/

/** One encoded event. A line break in the data is read back as `\n`; a name is one line. */
export function encodeSse({ event, data }: SseEvent): string {
  const name = event === undefined ? '' : `event: ${event.split(lineBreak).join(' ')}\n`
  return `${name}data: ${data.split(lineBreak).join('\ndata: ')}\n\n`
}

export function streamReply(chunks: readonly string[], headers: EncodedReply['headers'] = {}): EncodedReply {
  const usual = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }
  return { status: 200, headers: { ...usual, ...headers }, chunks }
}

/** Parses events from bytes, however they are split. Comments and fields other than `event` and `data` are ignored. */
export function createSseReader(onEvent: (event: SseEvent) => void) {
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
    // A carriage return ends its line at once; a line feed at the start of the next piece belongs to it.
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
    push: (chunk: Uint8Array | string) =>
      read(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })),
    /** A rest without its blank line is not an event: the stream was cut. */
    end: () => read(decoder.decode()),
  }
}
