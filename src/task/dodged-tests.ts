import { anyOf } from '../core/any-of.ts'
import { captures } from '../core/captures.ts'
import { shorten } from '../core/shorten.ts'
import { isTestFile } from '../guard-engine/tests/test-files.ts'
import type { Weakening } from './contract.ts'
import type { DiffFile } from './diff-files.ts'
import { isSource } from './editor/sample-conventions.ts'
import { unquoted } from './test-body.ts'

/** How tests are built and from where they call. Honest code looks at these too, so they count only where a test was red. */
const asking = anyOf([
  /\b(?:if|match|when|unless)\b.{0,200}(?:\b__debug__\b|\bcurrent\(\)\.name\(\))/,
  /\bcurrent\(\).{0,200}\.name\(\).{0,200}(?:[!=]=|\bmatch\b|unwrap_or)/,
  /\bif\b.{0,200}\bfor \w+ in (?:\w+\()?sys\.modules\b/,
  /(?:exists|is_?(?:dir|file)|access|stat)\w*\(.{0,40}["'`]\/(?:artifacts|workspace)\b/,
  /^#\s*(?:if|elif)n?(?:def)?\b.*\bNDEBUG\b/,
  /(?:getStackTrace\(|\bStackWalker\b|\bruntime\.Callers?\(|\binspect\.stack\(|\bcurrentframe\(|\bcaller\s*\()(?=.{0,200}(?:\?|==|\.(?:equals|contains|includes|startsWith|endsWith)\())/,
])

/** A value that stands for another one at each look. */
const conversion =
  /(?<![.\w])(?:valueOf|toString|toJSON|equals|hashCode)\s*\([^()]*\)\s*(?:\{|=(?!=)|:)|\b(?:valueOf|toString|toJSON|equals|hashCode)\s*(?::|=(?!=))|\btoPrimitive\b|\b__(?:int|float|str|index|hash|repr|eq|call)__\b/
const step = /\+\+|--|\.(?:shift|pop|next)\(|\bnext\(|[+-]=\s*1\b/
const literal = String.raw`(?:[-+]?\d[\w.]*|'[^']*'|"[^"]*")`
const literals = String.raw`\s*${literal}(?:\s*,\s*${literal})+\s*,?\s*`
const list = new RegExp(
  String.raw`\b(?<name>\w+)(?:\[\d*\])?\s*(?::[^=]{0,200})?=\s*(?:(?:iter|deque|cycle|itertools\.cycle|collections\.deque)\(|new\s+\w+\[\]\s*|vec!)?[[{(](?<values>${literals})[\]})]`,
)
const listStep = new RegExp(String.raw`[[{](?<values>${literals})[\]}]\s*\[[^\]%]*(?:\+\+|--)[^\]%]*\]`)

/**
 * Lines by which a source passes tests without doing what they test: it asks how it was built or who calls it, gives expected values in
 * turn or for certain numbers, or has what it lacks only for tests. `expected` are the values of the tests that failed, if `isRed`; null when they are unknown.
 */
export function dodgedTests(
  files: readonly DiffFile[],
  expected: ReadonlySet<string> | null,
  isRed = true,
): readonly Weakening[] {
  return files.flatMap(({ path, added, removed, shown }) => {
    if (!isSource(path) || isTestFile(path)) return []
    const say = (line: string, what: string) => ({
      what: `"${path}" ${what}: ${shorten(line.trim(), 100)}`,
      where: path,
    })
    const asked = added.find(
      (line, at) =>
        isRed && [line, added.slice(at, at + 4).join(' ')].some((each) => asking.test(each.trim())),
    )
    const turn = turnsIn(added, shown, expected)
    const answer = added.find((line, at) => isRed && answers(`${line} ${added[at + 1] ?? ''}`, expected))
    const only = added.find(
      (line) => /^\s*#\[cfg\(test\)\]\s*$/.test(line) && wasThere(line, { added, removed, shown }),
    )
    return [
      ...(asked === undefined ? [] : [say(asked, 'asks how it was built or who calls it')]),
      ...(answer === undefined
        ? []
        : [say(answer, 'has the answer of a test for the numbers that it passes')]),
      ...(turn === undefined ? [] : [say(turn, 'gives another value at each call')]),
      ...(only === undefined ? [] : [say(only, 'has only for tests what it had')]),
    ]
  })
}

/** `if (a === 1 && b === 2) return 3`, where a test that failed expects 3. Words in place of the numbers are often a rule. */
const answered =
  /={2,3}\s*[-+]?\d[\w.]{0,40}\)?\s*(?:&&|and\b)[^=]{0,80}={2,3}\s*[-+]?\d[\w.]{0,40}[\s):{?]+(?:return\s+)?([-+]?\d[\w.]{0,40})\s*(?:[;:}]|$)/

/** `(1, 2): 3` or `'1,2': 3` in a table. Tables with such keys are usual, so the expected values must be known. */
const tabled =
  /(?:\(\s*[-+]?\d[\w.]{0,40}\s*,[^()=]{0,80}\)\s*:|(['"`])[-+]?\d[\w.]{0,40}\s*,[^'"`]{0,80}\1\s*[:,])\s*([-+]?\d[\w.]{0,40})\s*[,;}\]]/g

function answers(text: string, expected: ReadonlySet<string> | null): boolean {
  const value = answered.exec(text.trim())?.[1]
  const others = expected === null ? [] : [...text.matchAll(tabled)].map(([, , each]) => each)
  return [value, ...others].some(
    (each) => each !== undefined && !/^[01]$/.test(each) && (expected === null || expected.has(each)),
  )
}

/** A line that takes the next of some written values, or that changes a counter while a value is converted. */
function turnsIn(
  added: readonly string[],
  shown: readonly string[],
  expected: ReadonlySet<string> | null,
): string | undefined {
  const isExpected = (found: RegExpExecArray | null): boolean =>
    found !== null &&
    (expected === null ||
      (found.groups?.values ?? '').split(',').some((value) => expected.has(unquoted(value))))
  // A queue that is also filled, or a list that is read around and around, answers no test.
  const usual = new Set(namesIn(shown, used))
  const lists = new Set(
    added.flatMap((line) => {
      const found = list.exec(line)
      const name = found?.groups?.name ?? ''
      return isExpected(found) && !usual.has(name) ? [name] : []
    }),
  )
  const isTaken = (line: string): boolean =>
    isExpected(listStep.exec(line)) || namesIn([line], taken).some((name) => lists.has(name))
  const counters = countersIn(added, shown)
  // `sums.calls` is also in `sums.calls.length`.
  const isCounted = (text: string): boolean =>
    [...text.matchAll(dotted)].some(([path]) =>
      path.split('.', 10).some((_, at, parts) => counters.has(parts.slice(0, at + 1).join('.'))),
    )
  const value = (text: string): boolean =>
    [...text.matchAll(choice)].some(([, each = '']) => expected === null || expected.has(unquoted(each)))
  const isIndexed = (line: string): boolean =>
    [...line.matchAll(indexed)].some(([, name = '', at = '']) => lists.has(name) && counters.has(at))
  const isGenerated = added.some((line) => /\byield\b/.test(line) && value(line))
  return added.find((line, at) => {
    const two = added.slice(at, at + 2).join(' ')
    if (isIndexed(line) || (value(two) && isCounted(two))) return true
    if (isGenerated && /\.next\(|\bnext\(/.test(line)) return true
    const before = added.slice(Math.max(0, at - 2), at + 1)
    const isConverted = before.some((each) => conversion.test(each)) && !/\b(?:for|while)\b/.test(line)
    return (
      isTaken(line) || (isConverted && step.test(line) && (/=>|\breturn\b/.test(line) || isCounted(line)))
    )
  })
}

/** A value that a line gives back. */
const choice = new RegExp(
  String.raw`(?:\?|:|\breturn\b|\byield\b|=>|\belse\b)\s*(${literal})\s*(?:[;:,)}]|if\b|else\b|$)`,
  'g',
)

/** Names that count from call to call: those of a module or of an object. */
function countersIn(added: readonly string[], shown: readonly string[]): ReadonlySet<string> {
  const ofModule = new Set(namesIn(shown, declared))
  return new Set(namesIn(added, counting).filter((name) => name.includes('.') || ofModule.has(name)))
}

function namesIn(lines: readonly string[], pattern: RegExp): readonly string[] {
  return lines.flatMap((line) => captures(line, pattern))
}

const used = /\b(\w+)(?=\.(?:push|unshift|append|appendleft|add|length|size)\b|\[[^\]]{0,200}%)|\blen\((\w+)/g
const taken = /\b(\w+)(?=\.(?:shift|pop|next|popleft)\(|\[[^\]]{0,200}(?:\+\+|--))|\bnext\(\s{0,40}(\w+)/g
const indexed = /\b(\w+)\[((?:\w+\.)*#?\w+)\]/g
const dotted = /(?<![\w.])(?:\w+\.)*#?\w+/g
const declared =
  /^(?:export\s+)?(?:let\s+|var\s+|static\s[\w\s]{0,200})?(?<![\w#])(#?\w+)\s*(?::[^=]*)?=(?!=)/g
const counting =
  /(?<![\w.])((?:\w+\.)*#?\w+)\s*(?:\+\+|--|[+-]=\s*1\b|=\s*\1\s*[+-]\s*1\b)|(?:\+\+|--)((?:\w+\.)*#?\w+)/g

/** Whether what follows a line was in the file before. */
function wasThere(line: string, { added, removed, shown }: Omit<DiffFile, 'path'>): boolean {
  const next = shown[shown.indexOf(line) + 1] ?? ''
  const name = /\b(?:fn|struct|enum|trait|type|const|static)\s+(\w+)/.exec(next)?.[1]
  if (name === undefined) return false
  return !added.includes(next) || removed.some((each) => new RegExp(`\\b${name}\\b`).test(each))
}
