import { longestKeyBlock } from './find-secrets.ts'
import type { TextSpan } from './replace-spans.ts'

export type ChunkRedactor = ReturnType<typeof createChunkRedactor>

export interface ChunkRules {
  readonly redact: (text: string) => string
  readonly findSpans: (text: string) => readonly TextSpan[]
  /** Known secrets that contain a line break. */
  readonly multiline: readonly string[]
  /** Maximum buffer size in UTF-16 units. Default 1 Mi. */
  readonly maxHeld?: number
}

/**
 * Redacts text that arrives in pieces, including secrets split between two.
 *
 * Buffers the unfinished line. Only private keys and known secrets with line breaks cross lines; they are buffered until complete. A
 * line longer than `maxHeld` is cut outside the secrets seen so far, so only a secret longer than that can leak a piece.
 */
export function createChunkRedactor({ redact, findSpans, multiline, maxHeld = 1_048_576 }: ChunkRules) {
  const decoder = new TextDecoder()
  let held = ''

  const take = (cut: number): string => {
    const ready = held.slice(0, cut)
    held = held.slice(cut)
    return redact(ready)
  }

  const add = (text: string): string => {
    const breaks = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r'))
    const before = held.length
    held += text
    if (breaks !== -1) {
      const cut = beforeOpenSecret(held, before + breaks + 1, multiline)
      if (cut > 0) return take(cut)
    }
    return held.length > maxHeld ? take(cutInLine(held, Math.floor(maxHeld / 16), findSpans)) : ''
  }

  return {
    /** Decodes bytes as UTF-8, including characters split between two pieces. Returns the text that may be written now, often ''. */
    push: (chunk: string | Uint8Array): string =>
      add(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })),
    /** The rest. */
    end: (): string => {
      held += decoder.decode()
      return take(held.length)
    },
  }
}

/** Moves a cut back, line by line, until no private key and no known secret crosses it. */
function beforeOpenSecret(text: string, wanted: number, multiline: readonly string[]): number {
  let cut = wanted
  while (cut > 0) {
    const open = Math.min(openKey(text, cut), ...multiline.map((secret) => openLiteral(text, cut, secret)))
    if (open === Infinity) return cut
    cut = open
    while (cut > 0 && text[cut - 1] !== '\n' && text[cut - 1] !== '\r') cut -= 1
  }
  return 0
}

/** Start of a private key whose end is not seen before the cut; Infinity when there is none. */
function openKey(text: string, cut: number): number {
  const begin = text.lastIndexOf('-----BEGIN ', cut - 1)
  if (begin === -1 || cut - begin > longestKeyBlock) return Infinity
  const block = text.slice(begin, cut)
  return /^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY/.test(block) && !/-----END [A-Z0-9 ]{0,60}-----/.test(block)
    ? begin
    : Infinity
}

function openLiteral(text: string, cut: number, secret: string): number {
  for (let start = Math.max(0, cut - secret.length + 1); start < cut; start += 1)
    if (secret.startsWith(text.slice(start, start + secret.length))) return start
  return Infinity
}

function cutInLine(text: string, tail: number, findSpans: (text: string) => readonly TextSpan[]): number {
  const wanted = text.length - tail
  const across = findSpans(text).find(({ start, end }) => start < wanted && end > wanted)
  // A span at the start of the text leaves no earlier place, so it is written whole.
  const cut = across === undefined ? wanted : across.start > 0 ? across.start : across.end
  const code = text.charCodeAt(cut - 1)
  return code >= 0xd800 && code <= 0xdbff ? cut - 1 : cut
}
