import { basename } from 'node:path'
import { shorten } from '../core/shorten.ts'
import { textInside } from '../io/read-text-inside.ts'
import type { ActiveTask, KeptVerification } from './active-task.ts'
import type { Weakening } from './contract.ts'

/** Tests that a build of CMake or Meson no longer registers as it did, with the programs that they start. */
export async function lostRegistrations(
  { tree, baseline }: ActiveTask,
  verification: KeptVerification,
  isProven: boolean,
): Promise<readonly Weakening[]> {
  const builds = (await tree.changes(baseline.tree, verification.tree)).filter((path) =>
    /^(?:CMakeLists\.txt|meson\.build)$|\.cmake$/.test(basename(path)),
  )
  const { read } = await tree.texts(baseline.tree)
  const found: Weakening[] = []
  for (const path of builds) {
    for (const call of looserCalls(await read(path), textInside(tree.root, path) ?? '', isProven))
      found.push({ what: `"${path}" no longer runs a test as before: ${shorten(call, 100)}`, where: path })
  }
  return found
}

/**
 * Calls of a build file that register a test and are lost or changed, and new ones by which a known test passes more easily. A source may
 * be in another directory when the old build passes too (`isProven`).
 */
export function looserCalls(textBefore: string, textAfter: string, isProven = false): readonly string[] {
  const before = callsIn(textBefore)
  const after = callsIn(textAfter)
  const started = new Set(before.filter(isRegistration).flatMap(({ words }) => words))
  const nameOf = (word: string): string => (isProven ? basename(word) : word)
  const isBuilt = (each: Call): boolean => /executable$/.test(each.name) && started.has(each.words[0] ?? '')
  const isKept = (call: Call): boolean =>
    after.some(
      (each) =>
        each.name === call.name &&
        // A program may get more sources.
        (isBuilt(call)
          ? call.words.every((word) => each.words.some((one) => nameOf(one) === nameOf(word)))
          : isSameTest(call, each)),
    )
  const isLoosened = (each: Call): boolean =>
    before.every(({ text }) => each.text !== text) &&
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
  return [...text.replaceAll(/^\s*#.*$/gm, '').matchAll(/\b(\w+)\s*\(([^()]*)\)/g)].map(
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
