import { stripVTControlCharacters } from 'node:util'

/** Columns a text takes on a terminal: two for East Asian wide characters and emoji, none for marks and escape codes. */
export function displayWidth(text: string): number {
  if (narrow.test(text)) return text.length
  let width = 0
  for (const { segment } of graphemes().segment(stripVTControlCharacters(text)))
    width += graphemeWidth(segment)
  return width
}

/** At most `width` columns; the middle gives way, because names differ at their ends. Not for text with escape codes. */
export function shortenMiddle(text: string, width: number, ellipsis = '…'): string {
  if (displayWidth(text) <= width) return text
  const room = width - displayWidth(ellipsis)
  if (room < 2) return takeColumns(text, Math.max(0, width))
  const tail = Math.floor(room / 2)
  return takeColumns(text, room - tail) + ellipsis + takeLastColumns(text, tail)
}

/** At most `width` columns; the end gives way. Not for text with escape codes. */
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

/** Breaks at blanks, and inside a word only when it is wider than a line. Not for text with escape codes. */
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

const narrow = /^[\x20-\x7e]*$/
const zeroWidth = /^[\p{Mark}\p{Cf}\p{Cc}\p{Cs}]+$/u
const emoji = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|^\p{Regional_Indicator}|\u20e3/u
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18aff}\u{1b000}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u

let segmenter: Intl.Segmenter | undefined

/** Made when first needed: that takes longer than starting the rest of the program. */
function graphemes(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  return segmenter
}

function graphemeWidth(grapheme: string): number {
  if (zeroWidth.test(grapheme)) return 0
  return emoji.test(grapheme) || wide.test(grapheme) ? 2 : 1
}

function takeColumns(text: string, width: number): string {
  let taken = ''
  let used = 0
  for (const { segment } of graphemes().segment(text)) {
    used += graphemeWidth(segment)
    if (used > width) break
    taken += segment
  }
  return taken
}

function takeLastColumns(text: string, width: number): string {
  let taken = ''
  let used = 0
  for (const { segment } of [...graphemes().segment(text)].reverse()) {
    used += graphemeWidth(segment)
    if (used > width) break
    taken = segment + taken
  }
  return taken
}

function pieces(word: string, width: number): string[] {
  const found: string[] = []
  let rest = word
  while (displayWidth(rest) > width) {
    const head = takeColumns(rest, width)
    if (head === '') break
    found.push(head)
    rest = rest.slice(head.length)
  }
  return [...found, rest]
}
