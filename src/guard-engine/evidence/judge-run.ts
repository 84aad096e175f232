import { counted } from '../../core/counted.ts'
import type { Evidence, EvidenceKind } from '../../core/evidence.ts'
import { countTests, failedTests, unnamedFiles, withoutEscapes } from '../../core/test-output/count-tests.ts'
import { bareOutcome, outcomeSignature } from '../outcome-signature.ts'
import type { ShownPart } from './coverage/shown-output.ts'

/** The test counts of a run. Lint and builds have none. For mixed commands only real tests count. */
export function testCountsOf(
  kind: EvidenceKind,
  output: string,
): Pick<Evidence, 'executed' | 'skipped' | 'failed'> {
  if (kind === 'lint' || kind === 'build') return {}
  const counts = countTests(output)
  if (counts === null) return {}
  const { executed, skipped, failed, isPartial } = counts
  if (kind === 'other' && executed <= skipped && failed === 0) return {}
  return { ...(!isPartial && { executed, skipped }), ...(failed > 0 && { failed }) }
}

/** What a failed run shows about its failure, to tell later whether another failure is a new one. */
export function failureOf(exitCode: number, output: string): Pick<Evidence, 'failures' | 'error'> {
  const failures = failedTests(output)
  // Red behind a pipe, which may have cut the output: only the names of all failures tell something.
  if (exitCode === 0) {
    const tests = failures.filter(
      (name) => !/^\S+\.[cm]?[jt]sx?$/.test(name) && !output.includes(`FAIL\t${name}\t`),
    )
    return tests.length > 0 && tests.length === countTests(output)?.failed ? { failures } : {}
  }
  // Claude Code puts this line before the output, so a run of the guard itself gets it too.
  const text = output.replace(/^(?:Error: )?Exit code \d+(?:\n|$)/, '')
  const error = outcomeSignature({ output: text, exitCode })
  return { ...(failures.length > 0 && { failures }), ...(!error.startsWith(bareOutcome) && { error }) }
}

/** Why the end of a finished run proves nothing about the project; null when it proves something. */
export function whyRunProvesNothing(run: {
  readonly exitCode: number
  readonly output: string
  readonly kind: EvidenceKind
  readonly limited?: boolean
  /** Nothing of the output was redirected or cut. */
  readonly isWhole: boolean
  /** Text of a file of the project. */
  read(path: string): string | null
}): string | null {
  const { exitCode, output } = run
  if (exitCode === 127) return 'the program was not found (exit 127)'
  if (exitCode === 126) return 'the program could not be executed (exit 126)'
  if (exitCode === 130) return 'it was interrupted (exit 130)'
  if (exitCode === 124 && run.limited) return 'its time limit ran out (exit 124)'
  const ran = testCountsOf(run.kind, output).executed ?? 0
  if (exitCode === 0 && run.kind === 'test' && ran === 0 && isMissing.test(output.slice(-20_000)))
    return 'its output says that a program was not found, although it ended with exit 0'
  if (exitCode === 0 && run.kind !== 'build' && ran === 0 && upToDate.test(output))
    return 'make ran nothing, because a file has the name of the target; declare the target as .PHONY'
  if (exitCode !== 0 || run.kind === 'lint' || run.kind === 'build') return null
  if (run.isWhole && output.length < maxWholeChars && isCutShort(withoutEscapes(output)))
    return 'its process was ended before the tests were: the output shows no end of the run'
  const ended = unnamedFiles(output).find((path) => hasNodeTests.test(run.read(path) ?? ''))
  return ended === undefined ? null : `${ended} ended before its tests ran`
}

const maxWholeChars = 20_000
const hasNodeTests = /^(?=[\s\S]*['"]node:test['"])[\s\S]*^(?:await )?(?:test|it|describe|suite)(?:\.\w+)*\(/m

/** A runner began, and did not come to its own end. */
function isCutShort(text: string): boolean {
  return beginAndEnd.some(([begin, end]) => (text.match(begin)?.length ?? 0) > (text.match(end)?.length ?? 0))
}

const beginAndEnd: readonly (readonly [RegExp, RegExp])[] = [
  [
    /^=+ test session starts =+$/gm,
    /\b\d+ (?:passed|failed|skipped|deselected|errors?|x?passed|xfailed|tests collected)\b|\bno tests (?:ran|collected)\b/gm,
  ],
  [/^running \d+ tests?$/gm, /^test result: /gm],
  [/^ *RUN +v\d/gm, /^ *(?:Test Files|Tests|BENCH|No test files) /gm],
]

/** Why a green run without a summary of its tests proves nothing: an earlier one had it. */
export function whySilent(
  { exitCode, executed, command }: Pick<Evidence, 'exitCode' | 'executed' | 'command'>,
  most: Readonly<Record<string, number>> = {},
): string | null {
  const before = Object.hasOwn(most, command) ? (most[command] ?? 0) : 0
  if (exitCode !== 0 || executed !== undefined || before === 0) return null
  return `its output shows no tests, although it ran ${counted(before, 'test')} before`
}

const isMissing =
  /(?:command not found|: not found|is not recognized as an internal or external command)[ \t.]*$/m

const upToDate =
  /^g?make(?:\[\d+\])?: (?:'[^'\n]*' is up to date\.|Nothing to be done for '(?:test|check|lint)\S*'\.)$/m

/** What was run may not be what is there now. */
export function writtenMeanwhile(path: string): string {
  return `${path} was written while it ran, so it may have run something else than what is there now; let nothing write sources or tests meanwhile`
}

export const changedTree =
  'the tree was another one after it than before it: a file was edited while it ran, or the run writes files that git does not ignore. Add those to .gitignore, then run it again'

/**
 * Whether this output proves by itself that the run was green: the whole verdict of the runner is in it. Runners that print failures in
 * lines of their own need their end. `runners` are those of the check, for linters that print only what is wrong.
 */
export function showsGreen(
  output: string,
  { part, first, isMixed, isLoud }: ShownPart,
  { kind, runners }: { readonly kind: EvidenceKind; readonly runners: readonly string[] },
): boolean {
  const text = withoutEscapes(output).replaceAll('\r', '')
  if (part === 'nothing' || redLine.test(text)) return false
  const isEnd = part !== 'lines'
  if (kind === 'lint') {
    const isWhole = part === 'end' || (part === 'lines' && text.split('\n').length < first)
    const isSilent = runners.some(
      (runner) => runner in silentLint && silentLint[runner]?.test(text) === false,
    )
    return (
      ((isEnd || isWhole) && greenLint.test(text)) || (isWhole && isLoud && isSilent && !isMissing.test(text))
    )
  }
  if (isMixed && !closing.test(part === 'few' ? text : withoutTrailer(text))) return false
  const counts = countTests(text)
  if (counts !== null && (counts.failed > 0 || counts.executed <= counts.skipped)) return false
  const isWhole = (pattern: RegExp): boolean => pattern.test(text)
  if (wholeVerdicts.some((patterns) => patterns.every(isWhole))) return true
  return isEnd && (lastVerdicts.some(isWhole) || fulfilsPlan(text))
}

/** A plan of the Test Anything Protocol, each of its tests green, and no remark such as an exit after the last test. */
function fulfilsPlan(text: string): boolean {
  const plans = [...text.matchAll(/^1\.\.([1-9]\d*)$/gm)]
  const green = [...text.matchAll(/^ok (\d+)\b/gm)]
  return (
    !/^# /m.test(text) &&
    plans.length === 1 &&
    green.length === Number(plans[0]?.[1]) &&
    green.every(([, number], index) => Number(number) === index + 1)
  )
}

/** The last line of a green run, without what its runner prints behind it. */
const closing =
  /(?:^|\n)(?!.*\b[1-9]\d* (?:failed|failing|errors?)\b)(?:=* ?(?:\d+ \w+, )*\d+ passed\b.* in [\d.]+s\b.*|OK(?: \(.*\))?| *Tests:?[ \t].*\d passed.*|(?:#|ℹ) fail 0|# ok|ok[ \t]+\S+[ \t].*|test result: ok\..*|Ran \d+ tests? across.*| +\d+ passing\b.*|ok \| \d+ passed.*|\[INFO\] BUILD SUCCESS|BUILD SUCCESSFUL in .*|Passed![ \t].*|\d+ (?:examples?|tests?), .*\b0 failures.*|100% tests passed.*)\s*$/
/** What runners print behind their last line, and blank lines. */
const trailer =
  /^(?:(?:#|ℹ) (?:cancelled|skipped|todo|duration_ms) [\d.]+|[ \t]*(?:Snapshots:|Time:|Start at|Duration|Isolate[ \t]|at least ~|Ran all test suites|Total Test time |\d+ actionable task|\[INFO\] (?:-+$|Total time|Finished at)|> \S|All (?:done|checks passed)!|\d+ files? (?:would be )?(?:left unchanged|reformatted)|npm (?:warn|notice) |(?:Resolved|Audited|Installed|Prepared) \d+ packages?).*|\?[ \t]+\S+[ \t]+\[no test files\]|[ \t]*)$/

function withoutTrailer(text: string): string {
  const lines = text.split('\n')
  while (lines.length > 1 && trailer.test(lines.at(-1) ?? '')) lines.pop()
  return lines.join('\n')
}

/** Linters that print nothing when all is well, and what they print otherwise. */
const silentLint: Readonly<Record<string, RegExp>> = {
  eslint: /^[ \t]+\d+:\d+[ \t]+error\b|✖ \d+ problems? \((?!0 errors)|^Oops! |^ESLint|eslint\.config/m,
  tsc: /error TS\d|^[ \t]+(?:Types?|Property|Argument|Object|The|Overload|Index|'[^']+') .*(?:[.:']$)/m,
  'go vet': /^(?:# |vet: )|\.go:\d+:\d+: /m,
}

/** A line that only a failed run prints. */
const redLine =
  /^[ \t]*(?:FAIL(?:ED)?\b|not ok\b|npm (?:ERR!|error)\b|\[ERROR\]|error(?:\[\w+\])?:|ERROR:|Error:|Traceback \(most|panic:|g?make(?:\[\d+\])?: \*\*\*|rake aborted!|Errors?[ \t]+\d|Build FAILED|Found \d+ error|✖ \d+ problem)|ELIFECYCLE|Command failed|coverage threshold|Required test coverage/m

/** Each runner's verdict in the lines that together say how everything ended. None begins with a tab, as names in `git status` do. */
const wholeVerdicts: readonly (readonly RegExp[])[] = [
  [/^(?:=+ )?(?!.*\b(?:failed|errors?)\b)(?:\d+ [a-z]+, )*[1-9]\d* passed\b[^\n]* in [\d.]+s\b/m],
  [/^Ran \d+ tests? in [\d.]+s\n+OK\b/m],
  [/^ *Test (?:Suites|Files):?[ \t]+(?!.*failed).*\d passed/m, /^ *Tests:?[ \t]+(?!.*failed).*\d passed/m],
  [/^(?:#|ℹ) tests [1-9]\d*$/m, /^(?:#|ℹ) fail 0$/m, /^(?:#|ℹ) cancelled 0$/m],
  [/^(?:#|ℹ) tests ([1-9]\d*)$[\s\S]*^(?:#|ℹ) pass \1$/m, /^(?:#|ℹ) fail 0$/m],
  [/^# tests ([1-9]\d*)$\n^# pass {2}\1$/m, /^# ok$/m],
  [/^ Tasks: +([1-9]\d*) successful, \1 total$/m],
  [/^OK \(\d+ tests?, \d+ assertions?\)/m],
  [/^[1-9]\d* (?:examples?|tests?|runs), (?:\d+ assertions?, )?0 failures\b(?!.*[1-9]\d* errors?)/m],
  [/^ok \| [1-9]\d* passed\b[^\n]*\| 0 failed/m],
  [/^ *[1-9]\d* pass$/m, /^ *0 fail$/m, /^Ran \d+ tests? across/m],
  [/^\[INFO\] BUILD SUCCESS$/m, /Tests run: [1-9]/],
  [/(?<![\s\S])(?![\s\S]*^(?:Unexpected Pass|Timeout): +[1-9])[\s\S]*^Ok: +[1-9]\d* *$/m, /^Fail: +0 *$/m],
  [/^100% tests passed, 0 tests failed out of [1-9]\d*$/m],
]

/** Verdicts of which a failure would be in a later line. */
const lastVerdicts: readonly RegExp[] = [
  /^ +[1-9]\d* passing\b(?![\s\S]*^ +[1-9]\d* failing\b)/m,
  /^ok[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\))(?!.*\[no tests)/m,
  /^test result: ok\. [1-9]\d* passed; 0 failed;/m,
  /^Passed![ \t]+-[ \t]+Failed:[ \t]+0, Passed:[ \t]+[1-9]/m,
  /^BUILD SUCCESSFUL in /m,
  /^ +[1-9]\d* tests? passed$/m,
  // pnpm in every package: a failure ends the output.
  /^\S+ test\S*: Done\s*(?![\s\S])/m,
  /^ℹ fail 0\nℹ cancelled 0\nℹ skipped \d+\nℹ todo \d+\nℹ duration_ms [\d.]+\s*(?![\s\S])/m,
  /^INFO +- +Documentation built in [\d.]+ seconds$/m,
]

const greenLint =
  /^(?:All checks passed!|Success: no issues found in \d+ source files?|0 issues\.|0 errors, \d+ warnings?, .*|All matched files use Prettier code style!|Checked \d+ files? in [^\n]*No fixes applied\.|Found 0 warnings and 0 errors\.|✔ No ESLint warnings or errors|svelte-check found 0 errors and \d+ warnings.*|\d+ files? inspected, no offenses detected)$/m
