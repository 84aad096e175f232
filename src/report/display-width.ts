import { createRequire } from 'node:module'
import type stringWidth from 'string-width'

let measure: typeof stringWidth | undefined

/** Columns a text takes on a terminal: two for East Asian wide characters and emoji, none for marks and escape codes. */
export function displayWidth(text: string): number {
  if (/^[ -~·–—…→─│└├✓✗]*$/.test(text)) return text.length
  // Loaded when first needed: its segmenter and its Unicode classes take 35 ms, and most output is ASCII.
  measure ??= createRequire(import.meta.url)('string-width').default as typeof stringWidth
  return measure(text)
}

/** At most `width` columns. Omits the middle, because names differ at their ends. Not for text with escape codes. */
export function shortenMiddle(text: string, width: number, ellipsis = '…'): string {
  if (displayWidth(text) <= width) return text
  const room = width - displayWidth(ellipsis)
  if (room < 2) return takeColumns(text, Math.max(0, width))
  const tail = Math.floor(room / 2)
  return takeColumns(text, room - tail) + ellipsis + takeLastColumns(text, tail)
}

/** At most `width` columns. Omits the end. Not for text with escape codes. */
export function shortenEnd(text: string, width: number, ellipsis = '…'): string {
  if (displayWidth(text) <= width) return text
  return takeColumns(text, Math.max(0, width - displayWidth(ellipsis))) + (width > 0 ? ellipsis : '')
}

export function padRight(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}

export function padLeft(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - displayWidth(text))) + text
}

/** Breaks at spaces, and inside a word only when the word is wider than a line. Not for text with escape codes. */
export function wrapText(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap((word) => pieces(word, Math.max(1, width)))) {
    const joined = line === '' ? word : `${line} ${word}`
    if (line !== '' && displayWidth(joined) > width) {
      lines.push(line)
      line = word
    } else line = joined
  }
  return [...lines, line]
}

/** Wrapped, but not inside words: paths can still be copied. */
export function wrapWords(text: string, columns: number): string[] {
  const longest = Math.max(...text.split(' ').map(displayWidth))
  return wrapText(text, Math.max(20, columns, longest))
}

let segmenter: Intl.Segmenter | undefined

/** Created when first needed, because creating one takes several milliseconds. */
function graphemes(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  return segmenter
}

function segments(text: string): IteratorObject<string> {
  return graphemes()
    .segment(text)
    [Symbol.iterator]()
    .map(({ segment }) => segment)
}

/** As many parts from the start as fit. */
function fitting(parts: Iterable<string>, width: number): string[] {
  const taken: string[] = []
  let used = 0
  for (const part of parts) {
    used += displayWidth(part)
    if (used > width) break
    taken.push(part)
  }
  return taken
}

function takeColumns(text: string, width: number): string {
  return fitting(segments(text), width).join('')
}

function takeCodePoints(text: string, width: number): string {
  let taken = ''
  for (const point of text) {
    if (displayWidth(taken + point) > width) break
    taken += point
  }
  return taken
}

function takeLastColumns(text: string, width: number): string {
  return fitting([...segments(text)].reverse(), width)
    .reverse()
    .join('')
}

function pieces(word: string, width: number): string[] {
  const found: string[] = []
  let rest = word
  while (displayWidth(rest) > width) {
    // A cluster of a letter and many marks can be wider than the line: it is split by code points.
    const head = takeColumns(rest, width) || takeCodePoints(rest, width)
    if (head === '') break
    found.push(head)
    rest = rest.slice(head.length)
  }
  return [...found, rest]
}
