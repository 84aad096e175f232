import type { TestInventory } from '../guard-engine/contract.ts'
import { whySilent } from '../guard-engine/evidence/judge-run.ts'
import { testsRun } from '../guard-engine/history/gate.ts'
import { fewerTests, weakenings } from '../guard-engine/tests/inspect-tests.ts'
import { tamings } from '../guard-engine/tests/tamings.ts'
import { readTextInside } from '../io/files.ts'
import type { ActiveTask, KeptVerification } from './active-task.ts'
import type { Weakening } from './contract.ts'
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
      ...(await changedRedTests(active, now)),
      ...tamedRuns(diff),
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

/** Tests that failed on the untouched tree and were changed themselves. Lines that only add assertions are fine. */
async function changedRedTests(
  { tree, baseline, known }: ActiveTask,
  now: TestInventory,
): Promise<readonly Weakening[]> {
  const red = known.untouched?.evidence.flatMap(({ failures = [] }) => failures) ?? []
  const changed = Object.keys(baseline.tests.files).filter(
    (path) => Object.hasOwn(now.files, path) && now.files[path]?.hash !== baseline.tests.files[path]?.hash,
  )
  if (red.length === 0 || changed.length === 0) return []
  const names = new Set(
    red.map(
      (name) =>
        name
          .split(/ [>›] |::/)
          .at(-1)
          ?.replace(/ \(.*$/, '') ?? name,
    ),
  )
  const entries = await tree.entries(baseline.tree, changed)
  const found: Weakening[] = []
  for (const [path, { id }] of entries) {
    const before = linesOf((await tree.read(id)).toString('utf8'))
    const is = readTextInside(tree.root, path)
    const after = linesOf(is.kind === 'text' ? is.text : '')
    for (const name of names) {
      const body = bodyOf(before, name)
      if (body.length === 0) continue
      const own = bodyOf(after, name)
      const rest = own.length === 0 ? after : own
      const isCut =
        body.some((line) => !rest.includes(line)) || own.some((l) => !body.includes(l) && evades.test(l))
      const isAlone = importsOf(before).length > importsOf(after).length
      const how = isCut ? 'was changed' : isAlone ? 'no longer imports what it tests' : null
      if (how !== null)
        found.push({ what: `"${path}": the test "${name}" failed before, and ${how}`, where: path })
    }
  }
  return found
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

/** Imports of files of the project. */
function importsOf(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => /(?:from|import|require\()\s*['"]\.\.?\//.test(line))
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
