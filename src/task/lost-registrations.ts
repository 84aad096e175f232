import { basename, dirname, join } from 'node:path'
import { shorten } from '../core/shorten.ts'
import { textInside } from '../io/read-text-inside.ts'
import type { ActiveTask, KeptVerification } from './active-task.ts'
import type { Weakening } from './contract.ts'

/**
 * Tests that a build of CMake or Meson no longer registers as it did, with the programs that they start. Not those of sources that are gone
 * as the task asks (`asked`).
 */
export async function lostRegistrations(
  { tree, baseline }: ActiveTask,
  verification: KeptVerification,
  isProven: boolean,
  asked: Readonly<Record<string, number>>,
): Promise<readonly Weakening[]> {
  const builds = (await tree.changes(baseline.tree, verification.tree)).filter((path) => isBuild.test(path))
  const { read } = await tree.texts(baseline.tree)
  const found: Weakening[] = []
  for (const path of builds) {
    const isGone = (source: string): boolean => Object.hasOwn(asked, join(dirname(path), source))
    for (const call of looserCalls(await read(path), textInside(tree.root, path) ?? '', isProven, isGone))
      found.push({ what: `"${path}" no longer runs a test as before: ${shorten(call, 100)}`, where: path })
  }
  return found
}

export const isBuild = /(?:^|\/)(?:CMakeLists\.txt|meson\.build)$|\.cmake$/

/** The number of tests that a build file registers for programs of sources that are gone, by their first source, with 0 for the others. */
export function testsOf(text: string, isGone: (source: string) => boolean): Readonly<Record<string, number>> {
  const { programs, registrations } = goneCalls(callsIn(text), isGone)
  const counts = new Map<string, number>()
  for (const { words } of registrations)
    for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return Object.fromEntries(
    [...programs].flatMap(({ words: [name = '', ...sources] }) =>
      sources.map((source, at) => [source, at === 0 ? (counts.get(name) ?? 0) : 0] as const),
    ),
  )
}

/** Programs of which every source is gone, and the tests that start no other program. */
function goneCalls(calls: readonly Call[], isGone: (source: string) => boolean) {
  const all = calls.filter(({ name, words }) => /executable$/.test(name) && words.length > 1)
  const programs = new Set(all.filter(({ words }) => words.slice(1).every(isGone)))
  const namesOf = (some: Iterable<Call>): ReadonlySet<string> =>
    new Set([...some].map(({ words: [name = ''] }) => name))
  const [gone, others] = [namesOf(programs), namesOf(all.filter((each) => !programs.has(each)))]
  const starts = ({ words }: Call, names: ReadonlySet<string>): boolean =>
    words.some((word) => names.has(word))
  const registrations = new Set(
    calls.filter((each) => isRegistration(each) && starts(each, gone) && !starts(each, others)),
  )
  return { programs, registrations }
}

/**
 * Calls of a build file that register a test and are lost or changed, and new ones by which a known test passes more easily. A source may
 * be in another directory when the old build passes too (`isProven`). A program may go with its tests when all its sources went (`isGone`).
 */
export function looserCalls(
  textBefore: string,
  textAfter: string,
  isProven = false,
  isGone: (source: string) => boolean = () => false,
): readonly string[] {
  const all = callsIn(textBefore)
  const { programs, registrations } = goneCalls(all, isGone)
  const before = all.filter((each) => !programs.has(each) && !registrations.has(each))
  const after = callsIn(textAfter)
  const texts = new Set(before.map(({ text }) => text))
  const started = new Set(before.filter(isRegistration).flatMap(({ words }) => words))
  const nameOf = (word: string): string => (isProven ? basename(word) : word)
  const isBuilt = (each: Call): boolean => /executable$/.test(each.name) && started.has(each.words[0] ?? '')
  const beginning = ({ name, words }: Call, count: number): string =>
    [name, ...words.slice(0, count)].join(' ')
  const byBeginning = [0, 1, 2].map((count) => Map.groupBy(after, (each) => beginning(each, count)))
  const isKept = (call: Call): boolean => {
    const count = isBuilt(call) ? 1 : Math.min(2, call.words.length)
    const alike = byBeginning[count]?.get(beginning(call, count)) ?? []
    // A program may get more sources.
    if (!isBuilt(call)) return alike.some((each) => isSameTest(call, each))
    return alike.some(({ words }) => new Set(call.words.map(nameOf)).isSubsetOf(new Set(words.map(nameOf))))
  }
  const isLoosened = (each: Call): boolean =>
    !texts.has(each.text) &&
    /propert/.test(each.name) &&
    decidesEnd.test(each.text) &&
    each.words.some((word) => started.has(word))
  return [
    ...before.filter((each) => (isRegistration(each) || isBuilt(each)) && !isKept(each)),
    ...after.filter(isLoosened),
  ].map(({ text }) => text)
}

/** Whether a test starts the same program with the same arguments. It may get settings of its run. */
function isSameTest(before: Call, { words, text }: Call): boolean {
  const added = words.slice(before.words.length)
  return (
    before.words.every((word, index) => word === words[index]) &&
    (added.length === 0 || (setting.test(added[0] ?? '') && !added.some((word) => selects.test(word)))) &&
    decidesEnd.test(text) === decidesEnd.test(before.text)
  )
}

/** What may follow the command of a test, and does not become an argument of it. */
const setting =
  /^(?:WORKING_DIRECTORY|COMMAND_EXPAND_LISTS|PROPERTIES|DISCOVERY_(?:MODE|TIMEOUT)|TEST_(?:PREFIX|SUFFIX)|(?:timeout|suite|is_parallel|priority|workdir|depends|env|verbose):)/
const selects = /^(?:CONFIGURATIONS|EXTRA_ARGS|TEST_(?:FILTER|SPEC)|(?:args|should_fail|protocol):)/

interface Call {
  readonly name: string
  readonly words: readonly string[]
  readonly text: string
}

export function callsIn(text: string): readonly Call[] {
  return [...text.replaceAll(/^[ \t]*#.*$/gm, '').matchAll(/\b(\w+)\s*\(([^()]*)\)/g)].map(
    ([all, name = '', inner = '']) => ({
      name: name.toLowerCase(),
      words: inner.split(/[\s,'"]+/).filter((word) => word !== ''),
      text: all.replaceAll(/\s+/g, ' '),
    }),
  )
}

export function isRegistration({ name }: Pick<Call, 'name'>): boolean {
  return /^(?:add_test|test|enable_testing|\w+_discover_tests)$/.test(name)
}

const decidesEnd = /WILL_FAIL|DISABLED|SKIP_|PASS_REGULAR_EXPRESSION/
