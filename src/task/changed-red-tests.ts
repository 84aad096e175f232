import { basename, dirname } from 'node:path'
import { shorten } from '../core/shorten.ts'
import type { TestInventory } from '../guard-engine/contract.ts'
import { isOfTests } from '../guard-engine/tests/test-files.ts'
import { textInside } from '../io/read-text-inside.ts'
import type { ActiveTask, KeptVerification } from './active-task.ts'
import type { Weakening } from './contract.ts'
import { isSource } from './editor/sample-conventions.ts'
import {
  bodyOf,
  callsOf,
  comparedCalls,
  defines,
  importsOf,
  isKept,
  linesOf,
  losesImport,
  mayEvade,
  nameOf,
  provesLess,
  rebound,
  replaces,
} from './test-body.ts'

/**
 * Tests that failed on the untouched tree, and that were changed themselves or by the data they compare with. Lines that only add assertions
 * are fine. When the old tests pass too (`isProven`), only lines that can end a test early count.
 */
export async function changedRedTests(
  { tree, baseline, known }: ActiveTask,
  verification: KeptVerification,
  { files }: TestInventory,
  isProven: boolean,
): Promise<readonly Weakening[]> {
  const red = known.untouched?.evidence.flatMap(({ failures = [] }) => failures) ?? []
  const isNameless = red.length === 0 && isNamelessRed(known.untouched)
  if (red.length === 0 && !isNameless) return []
  const names = new Set(red.map(nameOf))
  const changes = await tree.changes(baseline.tree, verification.tree)
  const near = changes.filter((path) => isSource(path) && isOfTests(path))
  const data = changes.filter((path) => (isOfTests(path) || testData.test(path)) && !isSource(path))
  const helpers = changes.filter(
    (path) => Object.hasOwn(baseline.tests.files, path) && baseline.tests.files[path]?.cases === 0,
  )
  const isOther = data.length > 0 || helpers.length > 0 || near.length > 0
  const tests = Object.keys(baseline.tests.files).filter((path) => isOther || changes.includes(path))
  const { paths, read } = await tree.texts(baseline.tree)
  const nowIn = (path: string): string | null => textInside(tree.root, path)
  const textsOf = async (path: string) => {
    const text = await read(path)
    const now = nowIn(path)
    return { before: linesOf(text), after: now === null ? null : linesOf(now), text, now }
  }
  const other = changes.filter((path) => isSource(path) && !Object.hasOwn(baseline.tests.files, path))
  // The red check may be in a file that is not named for tests.
  const named = Object.keys(baseline.tests.files).map(nowIn)
  const isUnplaced = isNameless || [...names].some((name) => !named.some((text) => text?.includes(name)))
  const checks = new Map<string, ReturnType<typeof comparedCalls>>()
  for (const path of isUnplaced ? [...paths].filter(isSource).slice(0, maxChecks) : []) {
    const lines = other.includes(path) ? (await textsOf(path)).before : linesOf(nowIn(path) ?? '')
    checks.set(path, comparedCalls(lines))
  }
  const compared = [...checks.values()].flat()
  const moved = changes.filter((path) => Object.hasOwn(files, path)).map((path) => nowIn(path) ?? '')
  const homeless = new Set(names)
  const calls = new Map<string, string>()
  const looped: (readonly [path: string, line: string])[] = []
  const found: Weakening[] = []
  const say = (path: string, name: string, how: string): void =>
    void found.push({ what: `"${path}": the test "${name}" failed before, and ${how}`, where: path })
  for (const path of [...tests, ...other.filter((each) => (checks.get(each)?.length ?? 0) > 0)]) {
    const { before, after, text, now } = await textsOf(path)
    const isWhole = isNameless || !tests.includes(path)
    if (after === null || now === null) continue
    const there = [now, ...moved].flatMap(linesOf).map(withoutName)
    const cut =
      isWhole && !isProven
        ? before.find((line) => isCode(line) && !isKept(withoutName(line), there))
        : undefined
    const isEvaded = isWhole && mayEvade(before, after)
    if (cut !== undefined || isEvaded)
      found.push({
        what: `"${path}": a step failed before without the name of a test, and this file was changed${cut === undefined ? '' : `: ${shorten(cut, 80)}`}`,
        where: path,
      })
    const here = [...names].filter((name) => text.includes(name))
    for (const name of here) {
      const body = bodyOf(before, name)
      if (body.length === 0) continue
      homeless.delete(name)
      for (const called of callsOf(body)) calls.set(called, name)
      const beside = near.find(
        (each) =>
          !paths.has(each) &&
          takesPlace(each, path, before) &&
          [...paths].some((one) => one.endsWith(`${basename(each, '.py')}.py`)),
      )
      if (beside !== undefined) say(beside, name, 'this file takes the place of what it imports')
      const place = [now, ...moved].find((each) => bodyOf(linesOf(each), name).length > 0)
      const isCut =
        place === undefined
          ? body.some((line) => !isKept(line, after))
          : (isProven ? mayEvade : provesLess)(body, bodyOf(linesOf(place), name))
      const isAlone = losesImport(importsOf(before), importsOf(after))
      const again = place === undefined ? null : rebound(text, place, name)
      if (isCut || isAlone) say(path, name, isCut ? 'was changed' : 'no longer imports what it tests')
      else if (again !== null) say(path, name, `"${again}" is now something else there`)
    }
    const kept = [now, ...moved].flatMap(linesOf)
    const lost = before.find((line) => isCode(line) && !isKept(line, kept, { isTable: true }))
    if (before.some(isMany) && lost !== undefined) looped.push([path, lost])
    for (const helper of helpers) {
      const name = here.find((each) => bodyOf(before, each).length > 0)
      const isUsed = before.some((line) => line.includes(basename(helper).replace(/\.\w+$/, '')))
      if (name === undefined || !isUsed || helper === path) continue
      const texts = await textsOf(helper)
      const checks = texts.before.filter((line) => /\b(?:assert|expect|throw|raise)/.test(line))
      const isEvaded = checks.length > 0 && mayEvade(texts.before, texts.after ?? [])
      if (isEvaded || checks.some((line) => !isKept(line, texts.after ?? [])))
        say(helper, name, 'a check it uses was changed')
    }
    const mayBe = before.some(isMany) ? [...names] : here.filter((name) => bodyOf(before, name).length > 0)
    for (const each of data.filter((one) => paths.has(one) && mayBe.length > 0)) {
      const isSnapshot = each.startsWith(path) || /__snapshots__/.test(each)
      const texts = await textsOf(each)
      if (isLongerList(texts.before, texts.after ?? [])) continue
      const changed = mayBe.filter((name) =>
        isSnapshot
          ? snapshotOf(texts.before, name) !== snapshotOf(texts.after ?? [], name)
          : before.some((line) => line.includes(basename(each))),
      )
      if (changed[0] !== undefined) say(each, changed[0], 'what it compares with was changed')
    }
  }
  for (const { call } of compared) if (!calls.has(call)) calls.set(call, [...names][0] ?? 'a step')
  const subjects = [...calls.keys()]
  for (const path of new Set([...near, ...other])) {
    const { before, after } = await textsOf(path)
    const isNear = near.includes(path)
    const line = after?.find((each) => !before.includes(each) && replaces(each, subjects, isNear) !== null)
    const called = line === undefined ? null : replaces(line, subjects, isNear)
    if (called !== null)
      say(path, calls.get(called) ?? '', `"${called}" is replaced: ${shorten(line ?? '', 80)}`)
    const by = compared.find((each) => defines(before, each.by))
    const lost = before.find((each) => fails.test(each) && !isKept(each, after ?? []))
    if (by !== undefined && lost !== undefined && !checks.get(path)?.length)
      say(path, calls.get(by.call) ?? '', `what compares its values was changed: ${shorten(lost, 80)}`)
  }
  // A name that no file has is put together by a loop.
  const [made] = homeless
  for (const [path, line] of made === undefined ? [] : looped)
    say(path, made ?? '', `a line that makes it was changed: ${shorten(line, 80)}`)
  return found
}

/** Whether what failed may be a test that has no name. */
export function isNamelessRed(untouched: KeptVerification | null): boolean {
  return untouched?.status === 'FAIL' && !/lint|build/.test(untouched.evidence.at(-1)?.kind ?? '')
}

/** Sources that are searched for a check. */
const maxChecks = 1_000
const fails = /[!=]=|\b(?:is not|raise|throw|assert|abort|exit|panic)\b/

/** Named for what tests expect. */
const testData = /(?:^|\/)fixtures\/|(?:^|[/._-])(?:expected|golden|approved)(?:[/._-]|$)/

/** A test may get another name. */
function withoutName(line: string): string {
  return line.replace(/^((?:test|it|describe)\(\s*)(['"`]).*?\2/, '$1')
}

function isCode(line: string): boolean {
  return !/^(?:\/\/|#(?!define)|\*|(?:import|use)\b)/.test(line)
}

/** A module beside a Python test that is found before the one of the same name that the test imported. */
function takesPlace(path: string, test: string, lines: readonly string[]): boolean {
  const module = basename(path, '.py')
  return (
    path.endsWith('.py') &&
    dirname(path) === dirname(test) &&
    lines.some((line) => /^(?:from|import)\s+(\w+)/.exec(line)?.[1] === module)
  )
}

/** Tests whose names the runner puts together. */
function isMany(line: string): boolean {
  return /\b(?:it|test)\S*\(\s*`[^`]*\$\{|\.each\b|\bparametrize\b/.test(line)
}

/** A list of cases that only grew. */
function isLongerList(before: readonly string[], after: readonly string[]): boolean {
  const lines = before.filter((line) => line !== '')
  return lines[0]?.startsWith('[') === true && lines.every((line) => isKept(line, after, { isTable: true }))
}

/** The lines of a snapshot file that belong to a test. */
function snapshotOf(lines: readonly string[], name: string): string {
  const start = lines.findIndex((line) => /^exports\[|^# name:/.test(line) && line.includes(name))
  const length = lines.slice(start + 1).findIndex((line) => /^exports\[|^# name:/.test(line))
  return start < 0 ? '' : lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n')
}
