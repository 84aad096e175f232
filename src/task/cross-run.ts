import { basename, dirname, join } from 'node:path'
import { shorten } from '../core/shorten.ts'
import { ranTests } from '../guard-engine/history/gate.ts'
import { callsOfRemoved } from '../guard-engine/tests/removed-tests.ts'
import { isOfTests, testLanguage } from '../guard-engine/tests/test-files.ts'
import { writeTextInside } from '../io/change-inside.ts'
import { textInside } from '../io/read-text-inside.ts'
import type { ActiveTask, KeptVerification } from './active-task.ts'
import { isNamelessRed } from './changed-red-tests.ts'
import { checkPrograms } from './check-programs.ts'
import type { Weakening } from './contract.ts'
import { isBuild, testsOf } from './lost-registrations.ts'
import { isHere } from './open-task.ts'
import { notWritten, putBackAll, verifyAltered } from './verify-altered.ts'

export interface CrossRun {
  /** The steps pass with the old tests too, and the new tests have their values. */
  readonly isProven: boolean
  readonly found: readonly Weakening[]
}

/**
 * Runs the steps once more, with the tests of the untouched tree over the new sources. A test that passes only as the Editor changed it
 * proves nothing. Not for a change of names, which old tests cannot know, nor where the task asks to change tests.
 */
export async function crossRun(active: ActiveTask, verification: KeptVerification): Promise<CrossRun> {
  const { tree, baseline, known, request } = active
  const { untouched } = known
  if (isHere(active) || untouched === null) return { isProven: false, found: [] }
  const changed = await tree.changes(baseline.tree, verification.tree)
  const [before, after] = [await textsOf(active, baseline.tree), await textsOf(active, verification.tree)]
  const programs = await checkPrograms({
    steps: request.steps,
    definitions: Object.values(baseline.tests.definitions),
    paths: [...before.has],
    changed: changed.filter((path) => before.has.has(path)),
    read: before.read,
  })
  const isTest = (path: string): boolean => isOfTests(path) || programs.has(path)
  const others = changed.filter((path) => !isTest(path))
  const rest = await after.all(others)
  const deleted = await askedDeletions(active, changed, after.has)
  // A new file of tests may be part of a new build, which needs it.
  const tests = changed.filter(
    (path) => isTest(path) && !Object.hasOwn(deleted, path) && (before.has.has(path) || !isNamed(path, rest)),
  )
  const builds = others.filter((path) => isBuild.test(path) && before.has.has(path))
  const debug = others.filter((path) => path.endsWith('.rs'))
  const isDebug = countOfDebug(await after.all(debug)) > countOfDebug(await before.all(debug))
  if (tests.length + builds.length === 0 && !isDebug) return { isProven: false, found: [] }
  const all = await runWith(active, verification, [...tests, ...builds], isDebug)
  // A build may need what it got.
  const isBroken = builds.length > 0 && all.status === 'FAIL' && !all.evidence.at(-1)?.failures?.length
  const plain = isBroken ? await runWith(active, verification, tests, isDebug) : all
  const isProgram = tests.some((path) => programs.has(path))
  const isOld = tests.some((path) => before.has.has(path))
  const failsIn = (some: KeptVerification): string | null => firstFailure(active, some, isProgram, isOld)
  const linked = failsIn(plain) === null ? [] : await behindLinks(active, verification, changed, tests)
  const run = linked.length === 0 ? plain : await runWith(active, verification, tests, isDebug, linked)
  const why = failsIn(run)
  const [was, is] = [await before.all(tests), await after.all(changed.filter(isTest))]
  if (why === null) return { isProven: run.status === 'PASS' && keepsValues(was, is), found: [] }
  const isRed = untouched.status === 'FAIL'
  const isNameless = isNamelessRed(untouched) && untouched.evidence.every((each) => !each.failures?.length)
  const isMoved = others.some((path) => !after.has.has(path) && isNamed(path, was))
  const isRenamed = isMoved || losesName(await before.all(others), rest, was, is)
  const isAsked = !isRed && asksForValues(request.description, was, is)
  const isFine = isRenamed && !isNameless ? keepsValues(was, is) : isAsked
  const [path = ''] = [...tests.filter((each) => before.has.has(each)), ...tests, ...builds, ...debug]
  const how =
    tests.length + builds.length === 0 ? 'without debug_assertions' : 'with the tests from before the change'
  const what = `${how}, ${shorten(why, 120)}: "${path}"`
  return { isProven: false, found: isFine ? [] : [{ what, where: path }] }
}

function runWith(
  active: ActiveTask,
  verification: KeptVerification,
  paths: readonly string[],
  isDebug: boolean,
  linked: readonly { readonly path: string; readonly text: string }[] = [],
): Promise<KeptVerification> {
  return verifyAltered(active, verification, {
    name: `cross-run-${paths.length}${linked.length === 0 ? '' : '-linked'}`,
    what: 'with the tests from before the change',
    paths,
    write: async () => {
      await putBackAll(active.tree, active.baseline.tree, paths)
      for (const { path, text } of linked)
        if (writeTextInside(active.tree.root, path, text).kind === 'refused') throw notWritten(path)
    },
    ...(isDebug && { env: withoutDebug }),
  })
}

/** Tests where a link leads now, with the texts from where it led before. */
async function behindLinks(
  { tree, baseline }: ActiveTask,
  verification: KeptVerification,
  changed: readonly string[],
  tests: readonly string[],
) {
  const { paths, read } = await tree.texts(baseline.tree)
  const [was, is] = [
    await tree.entries(baseline.tree, changed),
    await tree.entries(verification.tree, changed),
  ]
  const places = [...was].flatMap(([path, { mode, id }]) => {
    const now = is.get(path)
    return mode === '120000' && now?.mode === mode ? [{ path, from: id, to: now.id }] : []
  })
  const found = places.map(async ({ path, ...ids }) => {
    const at = async (id: string): Promise<string> => join(dirname(path), `${await tree.read(id)}`, '/')
    const [from, to] = [await at(ids.from), await at(ids.to)]
    const moved = tests.filter((test) => test.startsWith(to) && paths.has(`${from}${test.slice(to.length)}`))
    return Promise.all(
      moved.map(async (test) => ({ path: test, text: await read(`${from}${test.slice(to.length)}`) })),
    )
  })
  return (await Promise.all(found)).flat()
}

const withoutDebug = {
  CARGO_PROFILE_DEV_DEBUG_ASSERTIONS: 'false',
  CARGO_PROFILE_TEST_DEBUG_ASSERTIONS: 'false',
}

/** Why the old tests do not pass; null when they do, or when another check failed, such as one of the coverage, which misses the new tests. */
function firstFailure(
  { known }: ActiveTask,
  { status, evidence, failure }: KeptVerification,
  isProgram: boolean,
  isOld: boolean,
): string | null {
  if (status === 'PASS') return null
  const failed = evidence.at(-1)
  const [name] = failed?.failures ?? []
  if (name !== undefined) return `the test "${name}" fails`
  const ran = known.untouched?.evidence.some((each) => each.command === failed?.command && ranTests(each))
  if ((failed?.failed ?? 0) > 0) return failure ?? 'a test fails'
  // Tests that were only moved out of a source are missing without an error.
  const isBroken = isOld || failed?.exitCode !== 0
  const isNone = isBroken && ran === true && failed !== undefined && !ranTests(failed)
  return isNone || isProgram ? (failure ?? 'a step fails') : null
}

function countOfDebug(text: string): number {
  return text.split(/\bdebug_assertions\b/).length
}

/** Whether a text names a file, or a module by the name of its file. */
function isNamed(path: string, text: string): boolean {
  const stem = RegExp.escape(basename(path).replace(/\.\w+$/, ''))
  return new RegExp(`(?<![\\w.-])${stem}(?![\\w-])`).test(text)
}

/** Whether a name that old tests use is gone from the sources, and from the tests but for an alias. */
function losesName(before: string, after: string, was: string, is: string): boolean {
  const [old, left, used, now] = [before, after, was, is].map(namesIn)
  const aliases = new Set([...is.matchAll(/\bas\s+(\w+)/g)].map(([, name]) => name))
  return [...(old ?? [])].some(
    (word) => !left?.has(word) && used?.has(word) && (!now?.has(word) || aliases.has(word)),
  )
}

function namesIn(text: string): ReadonlySet<string> {
  return new Set(
    text
      .replaceAll(/^[ \t]*#[ \t]*include.*$|(["'`])(?:\\.|(?!\1)[^\\\n]){0,300}\1/gm, '')
      .match(/[A-Za-z_]\w*/g),
  )
}

/** "Update the tests", "change the snapshot". */
export const asksForTests =
  /\b(?:updat\w*|chang\w*|adapt\w*|adjust\w*|correct\w*|rewrit\w*|regenerat\w*|replac\w*|edit\w*|accept\w*)\b[^.\n]{0,60}\b(?:tests?|specs?|snapshots?|expect\w*|fixtures?|checks?)\b/i
export const asksToDelete = /\b(?:delet\w*|remov\w*|drop\w*)\b/i

/** The number of tests by test file that are gone as the task asks: it names the file, or what it tests or they call, which is gone too. */
export async function askedDeletions(
  { request, known, baseline, tree }: Pick<ActiveTask, 'request' | 'known' | 'baseline' | 'tree'>,
  changed: readonly string[],
  left: { has(path: string): boolean; keys(): Iterable<string> },
): Promise<Readonly<Record<string, number>>> {
  if (!asksToDelete.test(request.description) || known.untouched?.status !== 'PASS') return {}
  const gone = changed.filter((path) => !left.has(path))
  const { read } = await tree.texts(baseline.tree)
  const built: Record<string, number> = {}
  for (const path of changed.filter((each) => isBuild.test(each))) {
    const at = (source: string): string => join(dirname(path), source)
    const tests = testsOf(await read(path), (source) => gone.includes(at(source)))
    for (const [source, count] of Object.entries(tests)) built[at(source)] = count
  }
  const isTest = (path: string): boolean => Object.hasOwn(baseline.tests.files, path)
  const kept = [...left.keys()]
  const isMeant = (path: string): boolean =>
    isSaid(path, request.description) ||
    isCalled(stemOf(path), request.description) ||
    (dirname(path) !== '.' &&
      isCalled(basename(dirname(path)), request.description) &&
      !kept.some((each) => each.startsWith(`${dirname(path)}/`)))
  const named = gone.filter((path) => !isTest(path) && isMeant(path)).map(stemOf)
  const found = gone.filter(
    (path) =>
      (isTest(path) || Object.hasOwn(built, path)) &&
      (isSaid(path, request.description) || named.includes(stemOf(path))),
  )
  // What ctest counts is what the build registers.
  const count = (path: string): number => built[path] || (baseline.tests.files[path]?.cases ?? 0)
  const texts = changed.map(async (path) => ({
    path,
    old: await read(path),
    text: left.has(path) ? (textInside(tree.root, path) ?? '') : '',
  }))
  const all = await Promise.all(texts)
  const tests = all.filter(({ path }) => isTest(path))
  const sources = all.filter(({ path }) => !isTest(path))
  const isGone = (name: string): boolean =>
    hasWord(request.description, name) &&
    sources.some(({ old }) => hasWord(old, name)) &&
    !sources.some(({ text }) => hasWord(text, name))
  const fewer = tests.flatMap(({ path, old, text }) => {
    const language = left.has(path) ? testLanguage(path) : null
    const calls = language === null ? [] : callsOfRemoved(old, text, language)
    const isAsked = calls.every((each) => [...each].some(isGone))
    return calls.length > 0 && isAsked ? [[path, calls.length] as const] : []
  })
  return Object.fromEntries([...found.map((path) => [path, count(path)] as const), ...fewer])
}

function hasWord(text: string, word: string): boolean {
  return new RegExp(`\\b${word}\\b`).test(text)
}

function isSaid(path: string, text: string): boolean {
  return text.split(/[\s,;:"'`()]+/).some((word) => [path, basename(path)].includes(word.replace(/\.$/, '')))
}

/** Whether a text has "the class Legacy" or "the legacy module". */
function isCalled(name: string, text: string): boolean {
  const kind = '(?:class|module|package|director(?:y|ies)|folder)'
  const word = String.raw`[\w./-]*(?<![\w.-])${RegExp.escape(name)}`
  return new RegExp(String.raw`\b${kind}\s+["'\x60]?${word}(?![\w-])|${word}\S?\s+${kind}\b`).test(text)
}

/** `legacy` of `src/legacy.js`, `test/legacy.test.js` and `test_legacy.py`, `Legacy` of `LegacyTest.java`. */
function stemOf(path: string): string {
  return basename(path)
    .replace(/(?:[._-](?:test|spec))?\.\w+$/, '')
    .replace(/^test_|_test$|(?<=[a-z\d])Tests?$/g, '')
}

const maxRead = 200

async function textsOf({ tree }: ActiveTask, state: string) {
  const { paths: has, read } = await tree.texts(state)
  const all = async (paths: readonly string[]): Promise<string> =>
    (await Promise.all(paths.slice(0, maxRead).map(read))).join('\n')
  return { has, read, all }
}

/** Whether every value of the old tests is in the new ones. */
function keepsValues(before: string, after: string): boolean {
  const left = [...valuesOf(after)]
  return valuesOf(before).every((value) => {
    const at = left.indexOf(value)
    return at >= 0 && left.splice(at, 1).length > 0
  })
}

/** Whether tests that passed may expect other values now: the task asks for that, names the values, or changes what they call. */
export function asksForValues(task: string, before: string, after: string): boolean {
  if (asksForTests.test(task)) return true
  const [said, old] = [task, before].map((text) => new Set(text.match(/\w+/g)))
  const known = new Set(valuesOf(before))
  const added = valuesOf(after).filter((value) => !known.has(value))
  const words = added.flatMap((value) => value.match(/\w+/g) ?? []).filter((word) => !old?.has(word))
  if (words.length > 0 && words.every((word) => said?.has(word))) return true
  const left = new Set(after.split('\n'))
  const calls = before.split('\n').flatMap((line) => {
    const names = [...line.matchAll(/\b(\w+)\(/g)].flatMap(([, name = '']) =>
      ofTests.has(name) ? [] : [name],
    )
    return left.has(line) || names.length === 0 ? [] : [names]
  })
  const isAbout = calls.length > 0 && calls.every((names) => names.some((name) => said?.has(name)))
  // A name such as `formatSize` asks for no formatting.
  return isAbout && !keepsBehaviour.test(task.replaceAll(/\w*[a-z\d][A-Z]\w*|\w+_\w+|`[^`\n]*`/g, ''))
}

const keepsBehaviour =
  /\b(?:refactor|renam|mov(?:e|ing)|simplif|clean|tidy|fast|quick|speed|optimi[sz]|perform|format|lint|document|comment|typo|extract|inlin|reorgani[sz]|split|add(?:ing)? (?:an?|another|more|new|support|options?)\b)/i
const ofTests: ReadonlySet<string> = new Set(['test', 'it', 'describe', 'expect', 'assert', 'equal', 'is'])

function valuesOf(text: string): readonly string[] {
  return (
    text
      .split('\n')
      .filter((line) => !/^\s*(?:#|(?:import|from|use|export)\b)/.test(line))
      .map((line) => line.replace(/\b(?:test|it|describe)\(\s*(['"`]).*?\1/, ''))
      .join('\n')
      .match(
        /(?<![\w.])\d[\w.]*|"(?:[^"\\\n]|\\.){0,300}"|'(?:[^'\\\n]|\\.){0,300}'|\b(?:true|false|null|None|True|False)\b/g,
      ) ?? []
  )
}
