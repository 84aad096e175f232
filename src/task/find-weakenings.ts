import { basename } from 'node:path'
import type { TestInventory } from '../guard-engine/contract.ts'
import { whySilent } from '../guard-engine/evidence/judge-run.ts'
import { testsRun } from '../guard-engine/history/gate.ts'
import { fewerTests, weakenings } from '../guard-engine/tests/inspect-tests.ts'
import { tamings } from '../guard-engine/tests/tamings.ts'
import { isTestFile } from '../guard-engine/tests/test-files.ts'
import { readTextInside } from '../io/files.ts'
import type { ActiveTask, KeptVerification } from './active-task.ts'
import type { Weakening } from './contract.ts'
import { isSource } from './editor/sample-conventions.ts'
import { testInventory } from './editor/test-inventory.ts'

const maxFound = 20
const maxDiffBytes = 4 * 1024 * 1024

/**
 * Why a green verification proves less than the same steps would have before the change: weaker tests or definitions, fewer tests by the
 * runner's own summary, sources that end or change the test run, ignored files that could not be put back.
 */
export async function findWeakenings(
  active: ActiveTask,
  verification: KeptVerification,
): Promise<readonly Weakening[]> {
  const { journal, tree, baseline, request, known } = active
  return journal.step(`weakenings-${known.attempts.length}`, async () => {
    const now = await testInventory(tree.root, request.steps)
    const diff = await tree.diff(baseline.tree, verification.tree, maxDiffBytes)
    const found = [
      ...weakerChecks(baseline.tests, now),
      ...lostTests(known.untouched, verification, now, baseline.tests),
      ...(await changedRedTests(active, verification)),
      ...tamedRuns(diff),
      ...rewrittenFiles(known.untouched, verification),
      ...known.unsound,
    ]
    const seen = new Set<string>()
    return found.filter(({ what }) => !seen.has(what) && seen.add(what)).slice(0, maxFound)
  })
}

/** Weaker test files and changed definitions of the steps. */
export function weakerChecks(before: TestInventory, now: TestInventory): readonly Weakening[] {
  return weakenings(before, now).map((what) => ({ what, where: /"((?:[^"\\]|\\.)*)"/.exec(what)?.[1] ?? '' }))
}

/** Tests that the runner's summary no longer has. */
function lostTests(
  untouched: KeptVerification | null,
  { evidence }: KeptVerification,
  now: TestInventory,
  before: TestInventory,
): readonly Weakening[] {
  if (untouched === null) return []
  const most = Object.fromEntries(untouched.evidence.map((run) => [run.command, testsRun(run) ?? 0]))
  const byCommand = Object.fromEntries(
    evidence.map((run) => [run.command, { ...run, by: 'verifier' as const }]),
  )
  const fewer = fewerTests({ byCommand, most }, now)
  const silent = evidence.flatMap((run) => {
    const why = whySilent(run, most)
    return why === null ? [] : [{ what: `${JSON.stringify(run.command)}: ${why}`, where: run.command }]
  })
  const known = new Set(untouched.evidence.flatMap(({ unnamed = [] }) => unnamed))
  const cut = evidence
    .flatMap(({ unnamed = [] }) => unnamed)
    .filter((path) => !known.has(path))
    .map((path) => path.replace(/^\/workspace\//, ''))
    .filter((path) => (Object.hasOwn(before.files, path) ? (before.files[path]?.cases ?? 0) : 0) > 0)
  return [
    ...fewer.map((what) => ({ what, where: /"((?:[^"\\]|\\.)*)"/.exec(what)?.[1] ?? '' })),
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

/** Tests that failed on the untouched tree, and that were changed themselves or by the data they compare with. Lines that only add assertions are fine. */
async function changedRedTests(
  { tree, baseline, known }: ActiveTask,
  verification: KeptVerification,
): Promise<readonly Weakening[]> {
  const red = known.untouched?.evidence.flatMap(({ failures = [] }) => failures) ?? []
  if (red.length === 0) return []
  const names = new Set(
    red.map(
      (name) =>
        name
          .split(/ [>›] |::/)
          .at(-1)
          ?.replace(/ \(.*$/, '') ?? name,
    ),
  )
  const changes = await tree.changes(baseline.tree, verification.tree)
  const data = changes.filter((path) => testData.test(path) && !isSource(path))
  const tests = Object.keys(baseline.tests.files).filter((path) => data.length > 0 || changes.includes(path))
  const entries = await tree.entries(baseline.tree, [...tests, ...data])
  const textsOf = async (path: string) => {
    const id = entries.get(path)?.id
    const is = readTextInside(tree.root, path)
    return {
      before: linesOf(id === undefined ? '' : (await tree.read(id)).toString('utf8')),
      after: is.kind === 'text' ? linesOf(is.text) : null,
    }
  }
  const found: Weakening[] = []
  const say = (path: string, name: string, how: string): void =>
    void found.push({ what: `"${path}": the test "${name}" failed before, and ${how}`, where: path })
  for (const path of tests) {
    const { before, after } = await textsOf(path)
    if (after === null) continue
    for (const name of names) {
      const body = bodyOf(before, name)
      if (body.length === 0) continue
      const own = bodyOf(after, name)
      const rest = own.length === 0 ? after : own
      const isCut =
        body.some((line) => !rest.includes(line)) || own.some((l) => !body.includes(l) && evades.test(l))
      const isAlone = losesImport(importsOf(before), importsOf(after))
      if (isCut || isAlone) say(path, name, isCut ? 'was changed' : 'no longer imports what it tests')
    }
    const mayBe = [...names].filter((name) => bodyOf(before, name).length > 0 || before.some(isMany))
    for (const each of data.filter((one) => entries.has(one) && mayBe.length > 0)) {
      const isSnapshot = each.startsWith(path) || /__snapshots__/.test(each)
      const texts = await textsOf(each)
      const changed = mayBe.filter((name) =>
        isSnapshot
          ? snapshotOf(texts.before, name) !== snapshotOf(texts.after ?? [], name)
          : before.some((line) => line.includes(basename(each))),
      )
      if (changed[0] !== undefined) say(each, changed[0], 'what it compares with was changed')
    }
  }
  return found
}

/** Beside tests, not part of the product. */
const testData = /(?:^|\/)(?:tests?|specs?|__tests__|__snapshots__|fixtures|testdata)\/|\.snap(?:shot)?$/

/** Tests whose names the runner puts together. */
function isMany(line: string): boolean {
  return /\b(?:it|test)\S*\(\s*`[^`]*\$\{|\.each\b|\bparametrize\b/.test(line)
}

/** The lines of a snapshot file that belong to a test. */
function snapshotOf(lines: readonly string[], name: string): string {
  const start = lines.findIndex((line) => /^exports\[|^# name:/.test(line) && line.includes(name))
  const length = lines.slice(start + 1).findIndex((line) => /^exports\[|^# name:/.test(line))
  return start < 0 ? '' : lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n')
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').map((line) => line.trim())
}

const caseStart =
  /^(?:(?:it|test|specify|describe|suite)\b[.\w]*\s*[(`]|(?:async\s+)?def\s+test|class\s|func\s+(?:Test|Fuzz)|#\[|@Test|TEST(?:_\w)?\()/

/** The lines of a test behind the one that names it, without comments. */
function bodyOf(lines: readonly string[], name: string): readonly string[] {
  const named = [`'${name}'`, `"${name}"`, `\`${name}\``, `${name}(`]
  const start = lines.findIndex((line) => named.some((each) => line.includes(each)))
  if (start < 0) return []
  const length = lines.slice(start + 1).findIndex((line) => caseStart.test(line))
  // A test on one line has its body there.
  const first = (lines[start] ?? '').replace(/^.*?(?:=>|\)\s*:)/, '').trim()
  return [first, ...lines.slice(start + 1, length < 0 ? undefined : start + 1 + length)].filter(
    (line) => /\w/.test(line) && !/^(?:\/\/|#|\*)/.test(line),
  )
}

const evades = /\b(?:return|try|catch|except|skip|exit|if)\b/

/** A file of the project may have moved, what the test is written with may not. */
function losesImport(before: readonly string[], after: readonly string[]): boolean {
  const isOwn = (module: string): boolean => module.startsWith('.')
  return (
    before.filter(isOwn).length > after.filter(isOwn).length ||
    before.some((module) => !isOwn(module) && !after.some((one) => `${one}/`.startsWith(`${module}/`)))
  )
}

/** The modules that a test imports: what it tests, and what it tests with. */
function importsOf(lines: readonly string[]): readonly string[] {
  return lines.flatMap(
    (line) => /(?:from|import|require\()\s*['"](?:node:)?([^'"]+)['"]/.exec(line)?.[1] ?? [],
  )
}

/** Lines that a source under test gained and that decide how its tests end. */
function tamedRuns(diff: string): readonly Weakening[] {
  const files = diff.split(/^(?=\+\+\+ )/m).slice(1)
  return files.flatMap((text) => {
    const [first = '', ...lines] = text.split('\n')
    const path = first.replace(/^\+\+\+ (?:b\/)?/, '').trim()
    const added = lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1))
    const shown = lines.filter((line) => /^[ +]/.test(line)).map((line) => line.slice(1))
    return tamings(path, added, shown).map((what) => ({ what: `"${path}" ${what}`, where: path }))
  })
}
