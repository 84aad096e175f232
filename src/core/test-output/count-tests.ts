import type { TestCounts } from './summary-words.ts'
import { frameworks } from './test-summaries.ts'

const maxHeadChars = 500_000
const maxTailChars = 1_500_000
const maxLineChars = 1_000

/** The tests a run's own output counts; null when it does not say. More than one framework, or more than one summary, is added up. */
export function countTests(output: string): TestCounts | null {
  const text = withoutLongLines(withoutEscapes(ends(output)).replaceAll('\r', ''))
  const counted = frameworks.map((read) => read(text)).filter((counts) => counts !== null)
  if (counted.length === 0) return null
  const sum = (field: keyof TestCounts): number => counted.reduce((total, counts) => total + counts[field], 0)
  const counts = { executed: sum('executed'), skipped: sum('skipped'), failed: sum('failed') }
  // What was cut away may have held the tests that ran.
  return isCut(text) && counts.executed <= counts.skipped && counts.failed === 0 ? null : counts
}

/** No summary is a line as long as that, and no pattern shall be led astray by one. */
function withoutLongLines(text: string): string {
  const lines = text.split('\n')
  return lines.filter(({ length }) => length <= maxLineChars).join('\n')
}

function ends(output: string): string {
  if (output.length <= maxHeadChars + maxTailChars) return output
  return `${output.slice(0, maxHeadChars)}\n[... cut ...]\n${output.slice(-maxTailChars)}`
}

function isCut(text: string): boolean {
  return /^.{0,40}(?:\[\.\.\. (?:\d+ bytes )?cut \.\.\.\]|\.\.\. ?\[\d+ [a-z]+ truncated\]|\[?\d+ [a-z]+ (?:truncated|omitted)\]?|(?:output|response) (?:was )?truncated)/im.test(
    text,
  )
}

/** Text without what only a terminal understands: colours, cursor moves, titles, links. */
export function withoutEscapes(text: string): string {
  return text.includes(escapeChar) || text.includes(controlChar) ? text.replaceAll(sequence, '') : text
}

const escapeChar = String.fromCharCode(0x1b)
const controlChar = String.fromCharCode(0x9b)
const bell = String.fromCharCode(0x07)

/** Control sequences; strings such as a title, up to their end on the same line; the forms of two characters. */
const sequence = new RegExp(
  [
    `(?:${escapeChar}\\[|${controlChar})[0-?]*[ -/]*[@-~]`,
    `${escapeChar}[\\]P^_X][^${bell}${escapeChar}\\n]*(?:${bell}|${escapeChar}\\\\)`,
    `${escapeChar}[ -/]*[0-~]`,
  ].join('|'),
  'g',
)
