import type { Finder } from '../../core/redact/finder.ts'

const digitRun = /\d(?:[ -]?\d){12,}/g

/** Numbers of payment cards, also in groups: known by their first digits, their length and their check digit. */
export const findCardNumbers: Finder = (text, found) => {
  for (const match of text.matchAll(digitRun)) {
    const run = match[0]
    const ends = edges(run, 'end')
    let from = 0
    let after = 0
    for (const start of edges(run, 'start')) {
      if (start < after || !/[2-6]/.test(run.charAt(start))) continue
      // Only what is near can be the end of the same number: a long run is walked once.
      while ((ends[from] ?? Infinity) < start + fewestDigits) from += 1
      const end = endOfCard(run, start, ends, from)
      if (end === null) continue
      found(match.index + start, match.index + end)
      after = end
    }
  }
}

const fewestDigits = 13
const mostDigits = 19
/** With a separator between each. */
const longest = 2 * mostDigits - 1

/** The longest number counts. */
function endOfCard(run: string, start: number, ends: readonly number[], from: number): number | null {
  let found: number | null = null
  for (let index = from; index < ends.length; index++) {
    const end = ends[index] ?? run.length
    if (end > start + longest) break
    if (isCard(run.slice(start, end))) found = end
  }
  return found
}

export function isCard(text: string): boolean {
  if (text.length > longest) return false
  const digits = text.replaceAll(/[ -]/g, '')
  if (digits.length < fewestDigits || digits.length > mostDigits) return false
  return issuers.some((issuer) => issuer.test(digits)) && hasCheckDigit(digits)
}

const issuers = [
  /^4(?:\d{12}|\d{15}|\d{18})$/,
  /^(?:5[1-5]|2[2-7])\d{14}$/,
  /^3[47]\d{13}$/,
  /^3(?:0[0-5]|[689]\d)\d{11}$/,
  /^35\d{14}$/,
  /^6(?:011|5\d\d|4[4-9]\d|2\d\d)\d{12,15}$/,
]

/** Luhn's sum, by which one wrong digit is noticed. */
function hasCheckDigit(digits: string): boolean {
  const sum = [...digits].toReversed().reduce((total, digit, index) => {
    const doubled = Number(digit) * (index % 2 === 0 ? 1 : 2)
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return sum % 10 === 0
}

/** Where a number may begin or end inside a run of groups: never in the middle of a group. */
function edges(run: string, side: 'start' | 'end'): readonly number[] {
  const inner = [...run.matchAll(/[ -]/g)].map(({ index }) => (side === 'start' ? index + 1 : index))
  return side === 'start' ? [0, ...inner] : [...inner, run.length]
}
