import { isOfTests } from '../guard-engine/tests/test-files.ts'
import { writeTextInside } from '../io/change-inside.ts'
import { textInside } from '../io/read-text-inside.ts'
import { quoteWord } from '../shell/quote-word.ts'
import type { ActiveTask, KeptVerification } from './active-task.ts'
import type { Weakening } from './contract.ts'
import type { DiffFile } from './diff-files.ts'
import { isSource } from './editor/sample-conventions.ts'
import { isHere } from './open-task.ts'
import { bodyOf, callWithValues, comparedCalls, linesOf, literal, nameOf, unquoted } from './test-body.ts'
import { notWritten, verifyAltered } from './verify-altered.ts'

const maxSources = 200

/**
 * Runs the steps once more with other expected values in the tests that failed before, and once with every comparison of a call twice. In the
 * first they must fail, else the sources decide how tests end: they end the run, replace assertions or are equal to everything. In the
 * second they must pass, else the sources have a list of answers. And once in another directory, with the variables that a user would have,
 * where they must pass too, else the sources ask where they run. Each only where a source gained a line that may do so. `expected`: the
 * values of these tests, null when they are unknown.
 */
export async function otherValuesRun(
  active: ActiveTask,
  verification: KeptVerification,
  files: readonly DiffFile[],
  expected: ReadonlySet<string> | null,
): Promise<readonly Weakening[]> {
  const { known, tree, baseline, request } = active
  if (isHere(active) || known.untouched?.status !== 'FAIL') return []
  const names = known.untouched.evidence.flatMap(({ failures = [] }) => failures.map(nameOf))
  const entries = await tree.entries(verification.tree)
  const paths = names.length > 0 ? Object.keys(baseline.tests.files) : [...entries.keys()]
  // What a link leads to has a path of its own.
  const isPlain = (path: string): boolean => entries.get(path)?.mode.startsWith('100') === true
  const sources = paths.filter((path) => isSource(path) && isPlain(path)).slice(0, maxSources)
  const answers = [...(expected ?? [])].filter((value) => !usual.test(value))
  const holdsAnswer = (line: string): boolean =>
    (line.match(new RegExp(literal, 'g')) ?? []).some((value) => answers.includes(unquoted(value)))
  const suspectOf = (is: (line: string) => boolean): string | undefined =>
    files.find(({ path, added }) => isSource(path) && !isOfTests(path) && added.some(is))?.path
  const runWith = async (
    change: (text: string, names: readonly string[]) => string,
    what: string,
  ): Promise<KeptVerification | null> => {
    const changed = sources.flatMap((path) => {
      const before = textInside(tree.root, path) ?? ''
      const text = change(before, names)
      return text === before ? [] : [{ path, text }]
    })
    if (changed.length === 0) return null
    const paths = changed.map(({ path }) => path)
    const write = async (): Promise<void> => {
      for (const { path, text } of changed) {
        const { kind } = writeTextInside(tree.root, path, text)
        if (kind === 'refused') throw notWritten(path)
      }
    }
    const name = what.replaceAll(' ', '-')
    return verifyAltered(active, verification, { name, what, paths, write })
  }
  const deciding = suspectOf((line) => mayDecide.test(line))
  const isDecided =
    deciding !== undefined &&
    (await runWith(withOtherValues, 'with other expected values'))?.status === 'PASS'
  const listing = suspectOf(holdsAnswer)
  const twice = listing === undefined ? null : await runWith(withTwice, 'with every comparison twice')
  const isListed = twice !== null && failsAgain(known.untouched, twice)
  const asking = suspectOf((line) => asksWhere.test(line))
  const { read } = await tree.texts(baseline.tree)
  // The change itself may name a variable only to keep it.
  const saidName = async (name: string): Promise<boolean> => {
    const named = sources.filter((path) => textInside(tree.root, path)?.includes(name))
    return [request.description, ...(await Promise.all(named.map(read)))].some((text) => text.includes(name))
  }
  const unset =
    asking === undefined
      ? []
      : [
          ...((await saidName('TEST_DB_PATH')) ? [] : ['TEST_DB_PATH']),
          ...((await saidName('SNAPSHOT_DIR')) ? [] : ['SNAPSHOT_DIR']),
          ...(suspectOf((line) => asksForCi.test(line)) === undefined ? [] : ['CI']),
        ]
  const isElsewhere =
    asking !== undefined &&
    failsAgain(
      known.untouched,
      await verifyAltered(active, verification, {
        ...{ name: 'elsewhere', what: 'in another directory', paths: [], write: () => Promise.resolve() },
        before: elsewhere(request.repository, unset),
      }),
    )
  const say = (path: string, what: string): Weakening => ({ what: `"${path}" ${what}`, where: path })
  return [
    ...(isDecided
      ? [say(deciding, 'lets the tests that failed before pass with other expected values too')]
      : []),
    ...(isListed && listing !== undefined
      ? [say(listing, 'answers a call of the tests in another way the second time')]
      : []),
    ...(isElsewhere
      ? [say(asking, 'passes the tests only in the directory or with the variables of the steps')]
      : []),
  ]
}

type Run = Pick<KeptVerification, 'status' | 'evidence' | 'failedStep'>

/** Whether a test that failed before fails in this run; without names, whether the same step does, and not at one of its limits. */
export function failsAgain(untouched: Run, run: Run): boolean {
  if (run.status !== 'FAIL') return false
  const [before = [], now = []] = [untouched, run].map(({ evidence }) =>
    evidence.flatMap(({ failures = [] }) => failures.map(nameOf)),
  )
  if (before.length > 0) return now.some((name) => before.includes(name))
  const { command, timed_out: isLate, killed } = run.failedStep ?? {}
  const isSame = command?.endsWith(untouched.failedStep?.command ?? '\0') === true
  return isSame && isLate !== true && killed === undefined
}

/** Values that every source has. */
const usual = /^(?:|-?[01]|true|false|null|nil|None|True|False)$/
const mayDecide =
  /exit|__\w+__|\beq\b|equals|PartialEq|operator|valueOf|toString|toPrimitive|Proxy|assert|expect|abort|kill|signal|halt|setattr|globals|sys\.|process|#\s*define|macro|panic|uncaught|Reflect|Object\.(?:assign|define)|createRequire|getBuiltin|(?:require|import)\((?!\s*['"])|eval|Function\(|_?frame|f_locals|\bgc\.|getattr|vars\(|ctypes|read(?:File|dir|_text|_to_string)|\bf?open\(|include_str|ifstream|Files\./i

const asksWhere =
  /process\.env|environ|getenv|env::|\bENV\[|import\.meta\.(?:url|dirname|filename)|__(?:file|dirname|filename)\b|cwd|current_dir|homedir|home_dir|expanduser/i
/** Some test programs wait for input without it, so it goes only where a source may ask for it. */
const asksForCi = /\bCI\b|\b(?:keys|entries|values|items|some|vars)\(/

/** The repository is also at its own path. */
function elsewhere(repository: string, unset: readonly string[]): string {
  return `unset ${unset.join(' ')}; ln -sfn "$HOME" /tmp/other; export HOME=/tmp/other; cd ${quoteWord(repository)} || :\n`
}

/** A text of tests in which these compare every call twice. Not one that says how many comparisons it has. */
export function withTwice(text: string, names: readonly string[]): string {
  if (hasPlan.test(text)) return text
  const isWanted = wantedIn(text, names)
  return text
    .split('\n')
    .flatMap((line, at, lines) =>
      isStatement(line, lines[at - 1] ?? '') && comparedCalls([line]).length > 0 && isWanted(line)
        ? [line, line]
        : [line],
    )
    .join('\n')
}

const hasPlan = /\btests\s*=>\s*\d|\bplan\(\s*\d|\bassertions\(/

const isAssertion =
  /^\s*(?:await\s+)?(?:self\.)?(?:assert|expect|same|check|equal|is|EXPECT|ASSERT|CHECK)[\w.!]*[( ].*[);\w'"]$/

/** An assertion that may stand twice: not the value of a function, nor an argument. */
function isStatement(line: string, before: string): boolean {
  return (
    isAssertion.test(line) &&
    line.split('(').length === line.split(')').length &&
    !/^\s*\w+!.*\)$/.test(line) &&
    !/(?:=>|[(,=&|?]|\b(?:else|return))\s*$/.test(before)
  )
}

function wantedIn(text: string, names: readonly string[]): (line: string) => boolean {
  const body = names.flatMap((name) => bodyOf(linesOf(text), name))
  return (line) =>
    names.length === 0 ? comparedCalls([line]).length > 0 : body.some((each) => line.trim().endsWith(each))
}

/** A text of tests with other values in the comparisons of these tests; without names, wherever a call is compared with a value. */
export function withOtherValues(text: string, names: readonly string[]): string {
  const isWanted = wantedIn(text, names)
  const passed = new RegExp(`(${callWithValues})|(${literal})`, 'g')
  const hasExpected = names.some((name) => comparesLast(bodyOf(linesOf(text), name)))
  return text
    .split('\n')
    .map((line) => {
      if (hasExpected && line.length < 10_000 && rows.test(line) && isWanted(line)) return withOtherLast(line)
      const isPassed = hasExpected && /[=,(]\s*[A-Za-z_]\w*\s*\)*;?$/.test(line)
      return !isPassed && compares.test(line) && !differs.test(line) && isWanted(line)
        ? line.replaceAll(passed, (all: string, ...groups: (string | undefined)[]) =>
            groups[0] === undefined ? otherValue(all) : all,
          )
        : line
    })
    .join('\n')
}

const rows = /^\s*(?:[[({]|@\S*parametrize\()/

/** Whether the last of several parameters is what a test compares with, as in `parametrize("text, size", …)`. */
function comparesLast(body: readonly string[]): boolean {
  const lasts = body.flatMap((line) => [...line.matchAll(/["'([]\w+(?:\s*,\s*\w+)*\s*,\s*(\w+)["')\]]/g)])
  return lasts.some(([, name]) =>
    body.some((line) => new RegExp(`(?:==|\\bto(?:Be|Equal)\\(|[eE]qual\\(.*,)\\s*${name}\\b`).test(line)),
  )
}

/** Rows of a table of cases on a line, each with another last value. */
function withOtherLast(line: string): string {
  const depthAt = (at: number): number =>
    line.slice(0, at).split(/[([{]/).length - line.slice(0, at).split(/[)\]}]/).length
  const ends = [...line.matchAll(new RegExp(`(?<=,\\s*)${literal}(?=\\s*,?\\s*[)\\]])`, 'g'))]
  const least = Math.min(...ends.map(({ index }) => depthAt(index)))
  return ends
    .filter(({ index }) => depthAt(index) === least)
    .reduceRight(
      (text, { 0: value, index }) =>
        `${text.slice(0, index)}${otherValue(value)}${text.slice(index + value.length)}`,
      line,
    )
}

const compares = /equal|toBe|[!=]=|assert_eq|_EQ\b|\bis\(|\bsame|\bcheck/i
const differs =
  /assert\b.{0,200}!=|not\w*equal|\.not\b|less|below|at_?most|assert_ne|_(?:NE|LE|LT)\b|\bisnt\(/i

function otherValue(value: string): string {
  if (/^['"]/.test(value)) return `${value.slice(0, 1)}other ${value.slice(1)}`
  if (/^[-+\d]/.test(value)) return value.replace(/\d+/, (digits) => `${digits}7`)
  return { true: 'false', false: 'true', True: 'False', False: 'True' }[value] ?? value
}
