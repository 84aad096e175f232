import type { TestCounts } from './test-counts.ts'
import { testFrameworks } from './test-frameworks.ts'

const maxHeadChars = 500_000
const maxTailChars = 1_500_000
const maxLineChars = 1_000

/** The tests counted in a run's output; null when it has no summary. Several frameworks or summaries are added up. */
export function countTests(output: string): TestCounts | null {
  const text = withoutLongLines(withoutEscapes(ends(output)).replaceAll('\r', ''))
  const counted = testFrameworks.map((read) => read(text)).filter((counts) => counts !== null)
  if (counted.length === 0) return null
  const sum = (field: 'executed' | 'skipped' | 'failed'): number =>
    counted.reduce((total, counts) => total + counts[field], 0)
  const counts = {
    ...{ executed: sum('executed'), skipped: sum('skipped'), failed: sum('failed') },
    ...(counted.some(({ isPartial }) => isPartial) && { isPartial: true }),
  }
  // The removed part may contain executed tests.
  return isCut(text) && counts.executed <= counts.skipped && counts.failed === 0 ? null : counts
}

/** Longer lines are never a summary, and could slow down the patterns. */
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

/** Text without terminal control sequences: colours, cursor moves, titles, links. */
export function withoutEscapes(text: string): string {
  return text.includes(escapeChar) || text.includes(controlChar) ? text.replaceAll(sequence, '') : text
}

const escapeChar = String.fromCharCode(0x1b)
const controlChar = String.fromCharCode(0x9b)
const bell = String.fromCharCode(0x07)

/** Control sequences, strings such as a title up to their end on the same line, and two-character forms. */
const sequence = new RegExp(
  [
    `(?:${escapeChar}\\[|${controlChar})[0-?]*[ -/]*[@-~]`,
    `${escapeChar}[\\]P^_X][^${bell}${escapeChar}\\n]*(?:${bell}|${escapeChar}\\\\)`,
    `${escapeChar}[ -/]*[0-~]`,
  ].join('|'),
  'g',
)

/** Files that `node --test` counts as one test each: they have no test, or ended before their tests ran. */
export function unnamedFiles(output: string): readonly string[] {
  const text = withoutEscapes(output.slice(-maxChars)).replaceAll('\r', '')
  const lines = text.matchAll(/^(?:[✔✓] (\S+\.[cm]?[jt]s) \([\d.]+ms\)|ok \d+ - (\S+\.[cm]?[jt]s))$/gm)
  return [...new Set([...lines].map(([, spec, tap]) => spec ?? tap ?? ''))].slice(0, maxNames)
}

const maxNames = 200
const maxNameChars = 200
const maxChars = 1_000_000

/** How frameworks name a failed test, a file that failed, or a part that did not compile: the first group is the name. */
const patterns: readonly RegExp[] = [
  // pytest
  /^(?:FAILED|ERROR) (\S+?\.py(?:::.+?)?)(?: - .*)?$/gm,
  // unittest
  /^(?:FAIL|ERROR): (\S+ \(.+?\).*)$/gm,
  // Go
  /^[ \t]*--- FAIL: (\S+)/gm,
  /^(panic: .+)$/gm,
  /^FAIL\s+(\S+ \[(?:build|setup) failed\])/gm,
  // Cargo
  /^test (\S.*?) \.\.\. FAILED$/gm,
  /^(error: could not compile `[^`]+`)/gm,
  // Jest, Vitest
  /^[ \t]*FAIL[ \t]+(?!\S+ \[)(\S.*?)(?: \(.*\))?$/gm,
  /^[ \t]*● (.+ › .+?)$/gm,
  // node:test, Vitest, AVA
  /^[ \t]*[×✗✖✘] (?!failing tests:|\d+ problems? \()(.+?)(?: \(?[\d.]+ ?m?s\)?)?$/gm,
  // TAP, bats
  /^[ \t]*not ok \d+ -? ?(.+?)(?: # .*)?$/gm,
  // Mocha, PHPUnit, ExUnit
  /^[ \t]*\d+\) (\S.+?):?$/gm,
  // RSpec
  /^rspec (\.\/\S+)/gm,
  // Gradle, Maven, .NET, CTest, Deno
  /^(\S+ > .+?) FAILED$/gm,
  /^\[ERROR\]\s+(\w\S*?[.#]\w+)(?::\d+)?(?:\s|$)/gm,
  /^[ \t]+Failed (\S+)(?: \[.*\])?$/gm,
  /^[ \t]*\d+ - (.+) \((?:Failed|Timeout|SEGFAULT|ILLEGAL|INTERRUPT|NUMERICAL|OTHER_FAULT|Not Run|Bad command|Subprocess (?:aborted|killed))\)$/gm,
  /^(?!test )(\S.*?) \.\.\. .*FAILED(?: \(.*\))?$/gm,
  // Cargo names a test elsewhere only without --quiet.
  /^---- (.+) stdout ----$/gm,
]

/** A Go package whose tests came to their end, or one ended by a panic. How long it took is no part of its name. */
const endedPackage =
  /(?<=(?:^FAIL|\+0x[\da-f]+)\n(?:(?:coverage:|exit status) .*\n)*)^(FAIL\t\S+)\t[\d.]+s$/gm
const endedEarly = /\t[\d.]+s$/

/** Without the lines of node:test in which a `describe` or a parent fails because a test inside did. Its list of failing tests has one that failed itself. */
function withoutSuites(text: string): string {
  const open: string[] = []
  return text.replaceAll(/^([ \t]*)([▶✖✔]) (.+?)(?: \([\d.]+ms\))?$/gm, (line, space, mark, name) => {
    if (mark === '▶') open.push(`${space}${name}`)
    else if (open.at(-1) === `${space}${name}`) {
      open.pop()
      return ''
    }
    return line
  })
}

/** Names of the failed tests in a run's output, sorted; empty when it shows none. */
export function failedTests(output: string): readonly string[] {
  const raw = withoutEscapes(output.slice(-maxChars)).replaceAll('\r', '')
  const go = raw.includes('FAIL\t') ? raw.replaceAll(endedPackage, '$1') : raw
  const list = go.indexOf('\n✖ failing tests:\n')
  const text = list === -1 ? go : withoutSuites(go.slice(0, list)) + go.slice(list)
  const names = new Set<string>()
  for (const pattern of patterns)
    for (const [, name = ''] of text.matchAll(pattern)) names.add(name.trim().slice(0, maxNameChars))
  // Vitest shows a failure in its list too, without the file.
  const ends = new Set(
    [...names].flatMap((name) => [...name.matchAll(/ > /g)].map(({ index }) => name.slice(index + 3))),
  )
  const whole = [...names].filter((name) => !ends.has(name))
  return whole.every((name) => endedEarly.test(name)) ? [] : whole.sort().slice(0, maxNames)
}
