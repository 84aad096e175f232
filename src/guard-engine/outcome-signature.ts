import { stripVTControlCharacters } from 'node:util'
import type { ToolOutcome } from '../core/hook-event.ts'
import { sha256 } from '../io/sha256.ts'

const signatureChars = 16
const maxEndChars = 40_000
/** Minimum number of letters for a text to describe an error. */
const minLetters = 8

/** Prefix of the signature of an outcome without text: two commands that both fail silently have no common error. */
export const bareOutcome = 'bare'

/**
 * Equal for the same error. Times, durations, ids, temporary paths, positions in files, irrelevant numbers and the order of lines do not
 * count. The number of failed tests and the compared values do, because a change there is progress.
 */
export function outcomeSignature({
  output,
  exitCode,
  kind,
}: Pick<ToolOutcome, 'output' | 'exitCode'> & Partial<Pick<ToolOutcome, 'kind'>>): string {
  const lines = new Set<string>()
  for (const line of stripVTControlCharacters(ends(output)).split(/[\r\n]+/)) {
    const normalised = buildStep.test(line) ? '' : normaliseLine(line)
    if (normalised !== '') lines.add(normalised)
  }
  const text = [...lines].sort().join('\n')
  const ending = exitCode ?? kind
  if (!hasLetters(text)) return `${bareOutcome}-${ending}-${sha256(text).slice(0, 8)}`
  return sha256(`${ending}\n${text}`).slice(0, signatureChars)
}

/** Which files a build compiles depends on those that it compiled before. */
const buildStep =
  /^\s*(?:(?:\S*[/-])?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ar|ranlib)(?:-[\d.]+)? [^:]*\.[^:]*|\[ *\d+%\] (?:Building|Linking|Built target) .*)$/

/** Errors are at the ends of a long output, so its middle is skipped. */
function ends(output: string): string {
  if (output.length <= 2 * maxEndChars) return output
  return `${output.slice(0, maxEndChars)}\n${output.slice(-maxEndChars)}`
}

function hasLetters(text: string): boolean {
  const words = text.replaceAll(/<\w+>/g, '')
  // ASCII letters usually suffice. Compiling the Unicode pattern takes a hook half a millisecond.
  if (words.replaceAll(/[^A-Za-z]/g, '').length >= minLetters) return true
  if (/^[\0-\x7f]*$/.test(words)) return false
  return words.replaceAll(/[^\p{L}]/gu, '').length >= minLetters
}

const maxLineChars = 2_000

/** One line of output without the parts that differ from run to run. */
function normaliseLine(line: string): string {
  const plain = line.slice(0, maxLineChars).replaceAll(/\s+/g, ' ').trim()
  const placed = has(plain, temporaryHints)
    ? plain.replaceAll(temporaryPath, (_, name: string | undefined) => `<tmp>${name ?? ''}`)
    : plain
  // Other differences contain a digit. Compiling all patterns takes a hook two milliseconds.
  if (!/\d/.test(placed)) return placed
  const text = numbered.reduce(
    (known, { hints, pattern, by }) => (has(known, hints) ? known.replaceAll(pattern, by) : known),
    placed,
  )
  const keepsNumbers = assertion.test(text)
  return text.replaceAll(number, (digits: string, at: number) => {
    if (digits.length < longNumber && (keepsNumbers || countsResults(text, at, digits.length))) return digits
    return '<n>'
  })
}

/** Sizes, seeds, ports and process ids are long. Test counts and compared values are usually short. */
const longNumber = 5

/** A file name at the end is kept, because it identifies the error. */
const temporaryPath =
  /(?:(?:\/private)?\/(?:tmp|var\/tmp|var\/folders|dev\/shm)|[A-Za-z]:\\Users\\[^\\\s]+\\AppData\\Local\\Temp)(?:[\\/][^\s:'"`()[\]<>,\\/]+)*?([\\/][\w-]+(?:\.[a-z]{1,5})+)?(?=[\s:'"`()[\]<>,]|$)/g
const temporaryHints = ['/tmp', '/var/', '/dev/shm', '\\Temp']
const date = /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g
const clock = /(?<![\w:.])\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?![\w:])(?: ?[AP]M\b)?/g
const uuid = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi
const address = /\b0x[0-9a-f]+\b/gi
const hexId = /\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,}\b/gi
const place = /(?<=[^\s\d]):\d+(?::\d+)?(?![\w.])/g
const pairPlace = /\(\d+,\d+\)/g
const duration =
  /(?<![\w.])\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|sec|secs|seconds?|m|min|mins|minutes?|h|hours?)\b/gi
/** In order of replacement. A pattern can only match if one of its `hints` is present. */
const numbered: readonly {
  readonly hints: readonly string[]
  readonly pattern: RegExp
  readonly by: string
}[] = [
  { hints: ['-'], pattern: date, by: '<time>' },
  { hints: [':'], pattern: clock, by: '<time>' },
  { hints: ['-'], pattern: uuid, by: '<id>' },
  { hints: ['0x', '0X'], pattern: address, by: '<id>' },
  { hints: [''], pattern: hexId, by: '<id>' },
  { hints: [':'], pattern: place, by: ':<n>' },
  { hints: ['('], pattern: pairPlace, by: '(<n>)' },
  { hints: [''], pattern: duration, by: '<duration>' },
]
const number = /\d+(?:\.\d+)?/g
const assertion =
  /\b(?:assert\w*|expect\w*|received|actual|got|want(?:ed)?|left|right)\b|[=!]==?|≠|to (?:be|equal)\b/i
const countAfter =
  /^ (?:[a-z]+ )?(?:pass|fail|error|problem|warning|skip|pending|test|suite|example|assertion|spec)/i
const countBefore =
  /\b(?:pass(?:ed|ing|es)?|fail(?:ed|ing|ures?|s)?|errors?|tests?(?: run)?|skipped|warnings?)\s?[:=]\s?$/i

function has(text: string, hints: readonly string[]): boolean {
  return hints.some((hint) => text.includes(hint))
}

function countsResults(text: string, at: number, length: number): boolean {
  const after = text.slice(at + length, at + length + 40)
  return countAfter.test(after) || countBefore.test(text.slice(Math.max(0, at - 24), at))
}
