import type { Finder } from './finder.ts'

/** No private key is longer; further away an END belongs to something else. */
export const longestKeyBlock = 32_768

const begin = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const end = '-----END '
const body = /[A-Za-z0-9+/=\s\\:,.-]*/y

/** The body of a PEM or PGP private key. Without an END (the output was cut) what follows and could be key goes too. */
export const findPrivateKeys: Finder = (text, found) => {
  if (!text.includes('PRIVATE KEY')) return
  let nextEnd = -1
  let covered = 0
  for (const match of text.matchAll(begin)) {
    if (match.index < covered) continue
    const start = match.index + match[0].length
    // Looked for anew only when it was passed, so that many BEGINs do not each walk the whole text.
    if (nextEnd !== Infinity && nextEnd < start) {
      const place = text.indexOf(end, start)
      nextEnd = place === -1 ? Infinity : place
    }
    covered = nextEnd - start <= longestKeyBlock ? nextEnd : openEnd(text, start)
    if (covered > start) found(start, covered)
  }
}

function openEnd(text: string, start: number): number {
  body.lastIndex = start
  const length = body.exec(text)?.[0].length ?? 0
  return start + Math.min(length, longestKeyBlock)
}
