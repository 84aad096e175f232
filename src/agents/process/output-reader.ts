import { stripVTControlCharacters } from 'node:util'
import type { OutputEvent } from '../../core/event.ts'
import type { AgentRequest } from '../contract.ts'
import type { StreamEnd, StreamParser, UsageTotal } from '../stream.ts'

export interface OutputReader {
  stdout(chunk: Uint8Array): void
  stderr(chunk: Uint8Array): void
  turns(): number
  usage(): UsageTotal
  end(): StreamEnd
}

type Emit = AgentRequest['emit']

/** Limits the final text to the end of the output. */
const maxFinalText = 64 * 1024

/** For a program with any output: the output is its final text. */
export function createTextReader(emit: Emit): OutputReader {
  let tail = ''
  const stdout = createTextForwarder('stdout', emit, (text) => {
    tail = (tail + text).slice(-maxFinalText)
  })
  const stderr = createTextForwarder('stderr', emit)
  return {
    stdout: stdout.push,
    stderr: stderr.push,
    turns: () => 0,
    usage: () => ({ costUsd: null, tokens: null }),
    end() {
      stdout.end()
      stderr.end()
      const finalText = stripVTControlCharacters(tail).trim()
      return { finalText: finalText === '' ? null : finalText, failure: null, costUsd: null, tokens: null }
    },
  }
}

/** For a program whose stdout is a structured stream. `onProgress` is called whenever turns or usage may have changed. */
export function createLineReader(parser: StreamParser, emit: Emit, onProgress: () => void): OutputReader {
  const lines = createLineSplitter((line) => {
    for (const event of parser.push(line)) emit(event)
    onProgress()
  })
  const stderr = createTextForwarder('stderr', emit)
  return {
    stdout: lines.push,
    stderr: stderr.push,
    turns: parser.turns,
    usage: parser.usage,
    end() {
      lines.end()
      stderr.end()
      return parser.end()
    },
  }
}

function createTextForwarder(
  stream: NonNullable<OutputEvent['stream']>,
  emit: Emit,
  onText: (text: string) => void = () => {},
) {
  // A character that was split between two chunks is joined.
  const decoder = new TextDecoder()
  const forward = (text: string): void => {
    if (text === '') return
    emit({ event: 'output', text, stream })
    onText(text)
  }
  return {
    push: (chunk: Uint8Array): void => forward(decoder.decode(chunk, { stream: true })),
    end: (): void => forward(decoder.decode()),
  }
}

/** A longer line is returned in pieces: an agent that never ends its line must not fill the memory. */
const maxLineLength = 16 * 1024 * 1024

/**
 * Lines of a byte stream, however it was split: in the middle of a line, of a character, of a CRLF. Bytes that are not
 * UTF-8 become U+FFFD.
 */
export function createLineSplitter(onLine: (line: string) => void) {
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
    push: (chunk: Uint8Array): void => take(decoder.decode(chunk, { stream: true })),
    end: (): void => {
      take(decoder.decode())
      if (length > 0) flush('')
    },
  }
}
