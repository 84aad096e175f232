import { all, countsByWord, inAll, named, nothing, sumOf, type TestCounts } from './test-counts.ts'

/** One reader per summary format. Each ignores lines of other formats. */
export const testFrameworks: readonly ((output: string) => TestCounts | null)[] = [
  pytest,
  unittest,
  jestAndVitest,
  mocha,
  nodeTest,
  nodeDots,
  tap,
  go,
  cargo,
  ava,
  phpunit,
  examplesAndRuns,
  dotnet,
  ctest,
  meson,
  batsAndExUnit,
  deno,
  bun,
  surefire,
  playwright,
  swift,
]

/** `node --test --test-reporter=dot` prints nothing but a sign per test. */
function nodeDots(output: string): TestCounts | null {
  if (!/^(?:\s|> .*\n)*[.X]+\s*$/.test(output)) return null
  const signs = output.replaceAll(/^> .*$|\s/gm, '')
  return { executed: signs.length, skipped: 0, failed: signs.replaceAll('.', '').length }
}

/** `3 passed, 1 failed, 2 skipped in 0.12s`, with or without the frame of `=`. */
function pytest(output: string): TestCounts | null {
  const summaries = all(output, /^(?:=+ )?((?:\d+ [a-z]+(?:, )?)+|no tests ran) in [\d.]+s\b[^\n]*$/gm)
  // With --collect-only it exits 0 and has run nothing.
  const collected = /^(?:=+ )?(?:\d+(?:\/\d+)?|no) tests? collected\b[^\n]* in [\d.]+s\b/m.test(output)
  if (collected && summaries.length === 0) return nothing
  return inAll(summaries.map(([, words = '']) => countsByWord(words, pytestWords)))
}

const pytestWords = {
  failed: /^(?:failed|errors?)$/,
  skipped: /^skipped$/,
  passed: /^(?:passed|xfailed|xpassed)$/,
}

function unittest(output: string): TestCounts | null {
  const ran = all(
    output,
    /^Ran (\d+) tests? in [\d.]+s\n+(?:OK|FAILED|NO TESTS RAN)(?: \(([^)\n]*)\))?[ \t]*$/gm,
  )
  return inAll(
    ran.map(([, total = '0', details = '']) => ({
      executed: Number(total),
      skipped: named(details, /skipped=(\d+)/),
      failed: named(details, /failures=(\d+)/) + named(details, /errors=(\d+)/),
    })),
  )
}

/** Jest has a colon and a total, Vitest bars and a total in brackets. */
function jestAndVitest(output: string): TestCounts | null {
  const lines = all(
    output,
    /^[ \t]*Tests:?[ \t]+((?:\d+ [a-z]+(?:, | \| )?)+|no tests)(?:[ \t]*\(\d+\))?[ \t]*$/gm,
  )
  const empty = /^[ \t]*(?:No test(?: file)?s found|No test suite found)\b/m.test(output)
  const summaries = lines.map(([, words = '']) => countsByWord(words, jestWords))
  if (empty && summaries.length === 0) return nothing
  return inAll(summaries)
}

const jestWords = { failed: /^failed$/, skipped: /^(?:skipped|todo|pending)$/, passed: /^passed$/ }

function mocha(output: string): TestCounts | null {
  const passing = all(output, /^[ \t]+(\d+) passing\b[^\n]*$/gm)
  if (passing.length === 0) return null
  const failed = sumOf(all(output, /^[ \t]+(\d+) failing\b/gm))
  const skipped = sumOf(all(output, /^[ \t]+(\d+) pending\b/gm))
  return { executed: sumOf(passing) + failed + skipped, skipped, failed }
}

/** `# tests 3` in TAP, `ℹ tests 3` in the spec reporter. */
function nodeTest(output: string): TestCounts | null {
  const totals = all(output, /^(?:#|ℹ) tests (\d+)$/gm)
  if (totals.length === 0 || !/^(?:#|ℹ) pass \d+$/m.test(output)) return null
  const of = (name: string): number => sumOf(all(output, new RegExp(`^(?:#|ℹ) ${name} (\\d+)$`, 'gm')))
  const lastOf = (name: string): number =>
    Number(all(output, new RegExp(`^(?:#|ℹ) ${name} (\\d+)$`, 'gm')).at(-1)?.[1] ?? 0)
  return {
    executed: sumOf(totals),
    skipped: of('skipped') + of('todo'),
    failed: lastOf('fail') + lastOf('cancelled'),
  }
}

/** Lines of the Test Anything Protocol, and the summaries of the programs that read it. */
function tap(output: string): TestCounts | null {
  const proved = inAll(
    all(output, /^Files=\d+, Tests=(\d+),/gm).map(([, total = '0']) => ({
      executed: Number(total),
      skipped: 0,
      failed: /^Result: FAIL$/m.test(output) ? 1 : 0,
    })),
  )
  if (proved !== null) return proved
  if (/^(?:#|ℹ) tests \d+$/m.test(output)) return null
  if (!/^(?:TAP version \d+|1\.\.\d+(?:[ \t].*)?)$/m.test(output)) return null
  const results = all(output, /^(not )?ok\b(?: \d+)?[^\n]*$/gm)
  const isSkipped = ([line]: RegExpMatchArray): boolean => /# (?:skip|todo)/i.test(line)
  return {
    executed: results.length,
    skipped: results.filter(isSkipped).length,
    failed: results.filter((result) => result[1] !== undefined && !isSkipped(result)).length,
  }
}

/** Without `-v` Go counts packages, not tests, and reports only that there were none. */
function go(output: string): TestCounts | null {
  const packages = all(output, /^(ok|FAIL|\?)[ \t]+\S+[ \t]+(?:[\d.]+s|\(cached\)|\[[a-z ]+\])[^\n]*$/gm)
  const tests = all(output, /^--- (PASS|FAIL|SKIP): \S+ \([\d.]+s\)$/gm)
  const ended = (how: string): number => tests.filter(([, end]) => end === how).length
  if (tests.length > 0) {
    const isVerbose = ended('PASS') > 0 || /^=== RUN /m.test(output)
    if (isVerbose) return { executed: tests.length, skipped: ended('SKIP'), failed: ended('FAIL') }
    return { executed: tests.length, skipped: 0, failed: ended('FAIL'), isPartial: true }
  }
  if (packages.length === 0) return null
  const isEmpty = ([line]: RegExpMatchArray): boolean => /\[no test(?: file)?s(?: to run)?\]/.test(line)
  return packages.every(isEmpty) ? nothing : null
}

function cargo(output: string): TestCounts | null {
  const binaries = all(output, /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;/gm)
  const nextest = all(output, /^[ \t]*Summary \[[^\]\n]*\][ \t]+(\d+) tests? run: ([^\n]*)$/gm)
  if (binaries.length === 0 && nextest.length === 0) return null
  const [passed, failed, skipped] = [1, 2, 3].map((at) => sumOf(binaries, at))
  const run = sumOf(nextest)
  const broken = nextest.reduce((total, [, , rest = '']) => total + named(rest, /(\d+) failed/), 0)
  return {
    executed: (passed ?? 0) + (failed ?? 0) + (skipped ?? 0) + run,
    skipped: skipped ?? 0,
    failed: (failed ?? 0) + broken,
  }
}

function ava(output: string): TestCounts | null {
  if (/^[ \t]*✖? ?Couldn.t find any (?:files to test|tests)/m.test(output)) return nothing
  const lines = all(output, /^[ \t]+(\d+) tests? (passed|failed|skipped|todo)\b[^\n]*$/gm)
  if (lines.length === 0) return null
  const of = (word: RegExp): number => sumOf(lines.filter(([, , end = '']) => word.test(end)))
  return { executed: sumOf(lines), skipped: of(/skipped|todo/), failed: of(/failed/) }
}

function phpunit(output: string): TestCounts | null {
  const ok = all(output, /^OK \((\d+) tests?, \d+ assertions?\)/gm)
  const detailed = all(output, /^Tests: (\d+), Assertions: \d+([^\n]*)$/gm)
  if (ok.length === 0 && detailed.length === 0) return /^No tests executed!/m.test(output) ? nothing : null
  const of = (pattern: RegExp): number =>
    detailed.reduce((total, [, , rest = '']) => total + named(rest, pattern), 0)
  return {
    executed: sumOf(ok) + sumOf(detailed),
    skipped: of(/Skipped: (\d+)/) + of(/Incomplete: (\d+)/),
    failed: of(/Failures: (\d+)/) + of(/Errors: (\d+)/),
  }
}

/** RSpec's examples and Minitest's runs. */
function examplesAndRuns(output: string): TestCounts | null {
  const summaries = all(
    output,
    /^(\d+) (?:examples?|runs?|tests?), (?:\d+ assertions?, )?(\d+) failures?([^\n]*)$/gm,
  ).filter(([line]) => /examples?|assertions?/.test(line))
  return inAll(
    summaries.map(([, total = '0', failed = '0', rest = '']) => ({
      executed: Number(total),
      skipped: named(rest, /(\d+) (?:pending|skips)/),
      failed: Number(failed) + named(rest, /(\d+) errors?/),
    })),
  )
}

function dotnet(output: string): TestCounts | null {
  const lines = all(
    output,
    /\bFailed:[ \t]+(\d+), Passed:[ \t]+(\d+), Skipped:[ \t]+(\d+), Total:[ \t]+(\d+)/g,
  )
  if (lines.length > 0)
    return { executed: sumOf(lines, 4), skipped: sumOf(lines, 3), failed: sumOf(lines, 1) }
  const totals = all(output, /^Total tests: (\d+)$/gm)
  if (totals.length > 0) {
    const of = (name: string): number => sumOf(all(output, new RegExp(`^[ \\t]+${name}: (\\d+)$`, 'gm')))
    return { executed: sumOf(totals), skipped: of('Skipped'), failed: of('Failed') }
  }
  return /^No test is available in /m.test(output) ? nothing : null
}

function ctest(output: string): TestCounts | null {
  const summaries = all(output, /^\d+% tests passed, (\d+) tests? failed out of (\d+)$/gm)
  if (summaries.length === 0) return /^No tests were found!!!$/m.test(output) ? nothing : null
  return {
    executed: sumOf(summaries, 2),
    skipped: all(output, /\*\*\*(?:Skipped|Not Run \(Disabled\))/g).length,
    failed: sumOf(summaries),
  }
}

function meson(output: string): TestCounts | null {
  const of = (name: string): number => sumOf(all(output, new RegExp(`^${name}:[ \\t]+(\\d+)[ \\t]*$`, 'gm')))
  if (!/^Ok:[ \t]+\d+[ \t]*$/m.test(output)) return /^No tests defined\.$/m.test(output) ? nothing : null
  const failed = of('Fail') + of('Timeout') + of('Unexpected Pass')
  const skipped = of('Skipped')
  return { executed: of('Ok') + of('Expected Fail') + failed + skipped, skipped, failed }
}

/** `5 tests, 0 failures, 1 skipped`; ExUnit may name doctests and properties first. */
function batsAndExUnit(output: string): TestCounts | null {
  if (/^There are no tests to run$/m.test(output)) return nothing
  const summaries = all(
    output,
    /^((?:\d+ (?:doctests?|properties|property), )*)(\d+) tests?, (\d+) failures?((?:, \d+ [a-z]+(?: [a-z]+)*)*)[ \t]*(?:in [\d.]+ seconds)?$/gm,
  )
  return inAll(
    summaries.map(([, others = '', total = '0', failed = '0', rest = '']) => ({
      executed: Number(total) + sumOf(all(others, /(\d+)/g)),
      skipped: named(rest, /(\d+) (?:skipped|excluded)/),
      failed: Number(failed),
    })),
  )
}

function deno(output: string): TestCounts | null {
  const summaries = all(output, /^(?:ok|FAILED) \| (\d+) passed(?: \([^)\n]*\))? \| (\d+) failed([^\n]*)$/gm)
  if (summaries.length === 0) return /^error: No test modules found/m.test(output) ? nothing : null
  return inAll(
    summaries.map(([, passed = '0', failed = '0', rest = '']) => {
      const skipped = named(rest, /(\d+) ignored/)
      return { executed: Number(passed) + Number(failed) + skipped, skipped, failed: Number(failed) }
    }),
  )
}

function bun(output: string): TestCounts | null {
  const ran = all(output, /^Ran (\d+) tests? across \d+ files?\b[^\n]*$/gm)
  if (ran.length === 0) return null
  const of = (word: string): number => sumOf(all(output, new RegExp(`^[ \\t]+(\\d+) ${word}$`, 'gm')))
  const skipped = of('skip') + of('todo')
  return { executed: Math.max(sumOf(ran), of('pass') + of('fail') + skipped), skipped, failed: of('fail') }
}

/** Maven's totals, and Gradle's line when something failed. */
function surefire(output: string): TestCounts | null {
  const totals = all(
    output,
    /^(?:\[\w+\] +)?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)[ \t]*$/gm,
  )
  if (totals.length > 0)
    return { executed: sumOf(totals), skipped: sumOf(totals, 4), failed: sumOf(totals, 2) + sumOf(totals, 3) }
  if (/^(?:\[\w+\] +)?(?:Tests are skipped\.|No tests to run\.|No tests were executed\.?)$/m.test(output))
    return nothing
  const tasks = all(output, /^> Task \S*:(?:test|\w+Test|check)(?:[ \t]+([A-Z-]+))?$/gm)
  const isIdle = tasks.length > 0 && tasks.every(([, how]) => /^(?:NO-SOURCE|SKIPPED)$/.test(how ?? ''))
  const gradle = all(output, /^(\d+) tests? completed((?:, \d+ [a-z]+)*)$/gm)
  if (isIdle && gradle.length === 0) return nothing
  return inAll(
    gradle.map(([, total = '0', rest = '']) => ({
      executed: Number(total),
      skipped: named(rest, /(\d+) skipped/),
      failed: named(rest, /(\d+) failed/),
    })),
  )
}

/** XCTest sums up every suite and the whole at the end. */
function swift(output: string): TestCounts | null {
  const last = all(
    output,
    /^[ \t]*Executed (\d+) tests?, with (?:(\d+) tests? skipped and )?(\d+) failures?\b[^\n]*$/gm,
  ).at(-1)
  if (last === undefined) return null
  const [, total = '0', skipped = '0', failed = '0'] = last
  return { executed: Number(total), skipped: Number(skipped), failed: Number(failed) }
}

function playwright(output: string): TestCounts | null {
  if (!/^Running \d+ tests? using \d+ workers?$/m.test(output)) return null
  const of = (word: string): number => sumOf(all(output, new RegExp(`^[ \\t]+(\\d+) ${word}\\b`, 'gm')))
  const skipped = of('skipped') + of('did not run')
  const failed = of('failed')
  return { executed: of('passed') + of('flaky') + failed + skipped, skipped, failed }
}
