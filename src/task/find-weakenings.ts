import { shorten } from '../core/shorten.ts'
import type { TestInventory } from '../guard-engine/contract.ts'
import { whySilent } from '../guard-engine/evidence/judge-run.ts'
import { ranTests, testsRun } from '../guard-engine/history/gate.ts'
import { tamings } from '../guard-engine/tests/tamings.ts'
import { isTestFile } from '../guard-engine/tests/test-files.ts'
import { fewerTests, weakenings } from '../guard-engine/tests/weakenings.ts'
import type { ActiveTask, KeptVerification } from './active-task.ts'
import { changedRedTests } from './changed-red-tests.ts'
import type { Weakening } from './contract.ts'
import { askedDeletions, crossRun } from './cross-run.ts'
import { type DiffFile, diffFiles } from './diff-files.ts'
import { dodgedTests } from './dodged-tests.ts'
import { isSource } from './editor/sample-conventions.ts'
import { testInventory } from './editor/test-inventory.ts'
import { expectedValues } from './expected-values.ts'
import { lostRegistrations } from './lost-registrations.ts'
import { otherValuesRun } from './other-values-run.ts'
import { silencedChecks } from './silenced-checks.ts'
import { uncalledFunctions } from './uncalled-functions.ts'

const maxFound = 20
const maxDiffBytes = 4 * 1024 * 1024
/** As many fit into a command line. */
const maxDiffPaths = 1_000

/**
 * Why a green verification proves less than the same steps would have before the change: weaker tests or definitions, fewer tests by the
 * runner's own summary, sources that end or change the test run, ignored files that could not be put back.
 */
export async function findWeakenings(
  active: ActiveTask,
  verification: KeptVerification,
): Promise<readonly Weakening[]> {
  const { journal, tree, baseline, request, known } = active
  const crossed = await crossRun(active, verification)
  const changed = await tree.changes(baseline.tree, verification.tree)
  const files = await changedLines(active, verification, changed)
  const isRed = known.untouched?.status === 'FAIL'
  const expected = isRed ? await expectedValues(active) : new Set<string>()
  // Once is enough: each of these runs takes as long as the steps.
  const decided = crossed.found.length > 0 ? [] : await otherValuesRun(active, verification, files, expected)
  return journal.step(`weakenings-${known.attempts.length}`, async () => {
    const now = await testInventory(tree.root, request.steps)
    const left = await tree.entries(verification.tree)
    const asked = await askedDeletions(active, changed, left)
    // A file that lost only the tests that the task asks to delete is compared with itself.
    const kept = Object.entries(now.files).filter(([path]) => Object.hasOwn(asked, path))
    const before = { ...baseline.tests, files: { ...baseline.tests.files, ...Object.fromEntries(kept) } }
    const gone = Object.entries(asked).map(([path, count]) => [
      left.has(path) ? `${path} (fewer)` : path,
      count,
    ])
    const runs = historyOf(known.untouched, verification, Object.fromEntries(gone))
    const found = [
      ...crossed.found,
      ...decided,
      ...weakerChecks(before, now, runs),
      ...lostTests(known.untouched, verification, now, before, runs),
      ...(await changedRedTests(active, verification, now, crossed.isProven)),
      ...(await uncalledFunctions(active, verification)),
      ...(await lostRegistrations(active, verification, crossed.isProven, asked)),
      ...tamedRuns(files),
      ...dodgedTests(files, expected, isRed),
      ...readTests(files, baseline.tests),
      ...silencedChecks(files, hasRedCheck(known.untouched)),
      ...rewrittenFiles(known.untouched, verification),
      ...known.unsound,
    ]
    const seen = new Set<string>()
    return found.filter(({ what }) => !seen.has(what) && seen.add(what)).slice(0, maxFound)
  })
}

/** The changed lines of sources and tests, also of a file that an attribute of git or a NUL character makes binary. */
async function changedLines(
  { tree, baseline }: ActiveTask,
  verification: KeptVerification,
  changed: readonly string[],
): Promise<readonly DiffFile[]> {
  const linesOf = async (paths: readonly string[]): Promise<readonly DiffFile[]> => {
    if (paths.length === 0) return []
    if (paths.length <= maxDiffPaths) {
      const diff = await tree.diff(baseline.tree, verification.tree, maxDiffBytes, paths)
      // A longer one has lost its middle.
      if (paths.length === 1 || Buffer.byteLength(diff) < maxDiffBytes) return diffFiles(diff)
    }
    const half = Math.ceil(paths.length / 2)
    return [...(await linesOf(paths.slice(0, half))), ...(await linesOf(paths.slice(half)))]
  }
  return linesOf(changed.filter((path) => isSource(path) || isTestFile(path)))
}

/** Weaker test files and changed definitions of the steps. */
export function weakerChecks(
  before: TestInventory,
  now: TestInventory,
  runs?: ReturnType<typeof historyOf>,
): readonly Weakening[] {
  return weakenings(before, now, runs).map(ofSentence)
}

/** It names the place first, in quotes. */
function ofSentence(what: string): Weakening {
  return { what, where: /"((?:[^"\\]|\\.)*)"/.exec(what)?.[1] ?? '' }
}

/** What the runners counted before and now, and tests that may be gone. */
function historyOf(
  untouched: KeptVerification | null,
  { evidence }: KeptVerification,
  newTests: Readonly<Record<string, number>>,
) {
  const before = (untouched?.evidence ?? []).map((run) => [run.command, testsRun(run) ?? 0] as const)
  const now = evidence.map((run) => [run.command, { ...run, by: 'verifier' as const }] as const)
  return { most: Object.fromEntries(before), byCommand: Object.fromEntries(now), newTests }
}

/** Tests that the runner's summary no longer has. */
function lostTests(
  untouched: KeptVerification | null,
  verification: KeptVerification,
  now: TestInventory,
  before: TestInventory,
  runs: ReturnType<typeof historyOf>,
): readonly Weakening[] {
  if (untouched === null) return []
  const { evidence } = verification
  const silent = evidence.flatMap((run) => {
    const why = whySilent(run, runs.most)
    return why === null ? [] : [{ what: `${JSON.stringify(run.command)}: ${why}`, where: run.command }]
  })
  const known = new Set(untouched.evidence.flatMap(({ unnamed = [] }) => unnamed))
  const cut = evidence
    .flatMap(({ unnamed = [] }) => unnamed)
    .filter((path) => !known.has(path))
    .map((path) => path.replace(/^\/workspace\//, ''))
    .filter((path) => (Object.hasOwn(before.files, path) ? (before.files[path]?.cases ?? 0) : 0) > 0)
  return [
    ...fewerTests(runs, now).map(ofSentence),
    ...silent,
    ...cut.map((path) => ({ what: `"${path}" ended before its tests ran`, where: path })),
  ]
}

/** Tests and sources that the steps changed while they ran, so that they checked something else than this tree. */
export function rewrittenFiles(
  untouched: KeptVerification | null,
  { rewritten = [] }: KeptVerification,
): readonly Weakening[] {
  const before = new Set(untouched?.rewritten)
  return rewritten
    .filter((path) => !before.has(path) && (isSource(path) || isTestFile(path)))
    .map((path) => ({ what: `"${path}" is changed by the steps before they test it`, where: path }))
}

/** Whether a step failed before that runs no tests. */
function hasRedCheck(untouched: KeptVerification | null): boolean {
  const failed = untouched?.status === 'FAIL' ? untouched.evidence.at(-1) : undefined
  return failed !== undefined && testsRun(failed) === undefined && !ranTests(failed)
}

/** Sources that open a test, so that they may answer what it expects. */
function readTests(changed: readonly DiffFile[], { files }: TestInventory): readonly Weakening[] {
  const tests = Object.keys(files).filter((path) => (files[path]?.cases ?? 0) > 0 && isTestFile(path))
  return changed.flatMap(({ path, added }) => {
    if (!isSource(path) || isTestFile(path)) return []
    const line = added.find(
      (each) => importsTest.test(each) || (opens.test(each) && tests.some((test) => each.includes(test))),
    )
    return line === undefined
      ? []
      : [{ what: `"${path}" reads a test: ${shorten(line.trim(), 100)}`, where: path }]
  })
}

const importsTest =
  /^\s*from\s+tests?[.\s]|(?:from|import|require\()\s*['"](?:\.{1,2}\/)+(?:[\w-]+\/)*(?:tests?|__tests__|specs?)\//
const opens = /\b(?:open|read\w*|load\w*|fs)\s*[(.]/i

/** Lines that a source under test gained and that decide how its tests end. */
function tamedRuns(files: readonly DiffFile[]): readonly Weakening[] {
  return files.flatMap(({ path, added, shown }) => {
    // A test may do what sources may not, but nothing to its assertions.
    const isSure = isTestFile(path)
    return tamings(path, added, shown, { isSure }).map((what) => ({ what: `"${path}" ${what}`, where: path }))
  })
}
