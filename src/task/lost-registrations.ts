import { basename } from 'node:path'
import { shorten } from '../core/shorten.ts'
import { readTextInside } from '../io/files.ts'
import type { ActiveTask, KeptVerification } from './active-task.ts'
import type { Weakening } from './contract.ts'

/** Tests that a build of CMake or Meson no longer registers as it did, with the programs that they start. They may get more words. */
export async function lostRegistrations(
  { tree, baseline }: ActiveTask,
  verification: KeptVerification,
): Promise<readonly Weakening[]> {
  const builds = (await tree.changes(baseline.tree, verification.tree)).filter((path) =>
    /^(?:CMakeLists\.txt|meson\.build)$|\.cmake$/.test(basename(path)),
  )
  const entries = await tree.entries(baseline.tree)
  const found: Weakening[] = []
  for (const path of builds) {
    const id = entries.get(path)?.id
    const read = readTextInside(tree.root, path)
    const before = callsIn(id === undefined ? '' : (await tree.read(id)).toString('utf8'))
    const after = callsIn(read.kind === 'text' ? read.text : '')
    const started = new Set(before.filter(isRegistration).flatMap(({ words }) => words))
    const isChecked = (each: Call): boolean =>
      isRegistration(each) || (/executable$/.test(each.name) && started.has(each.words[0] ?? ''))
    const isKept = ({ name, words }: Call): boolean =>
      after.some((each) => each.name === name && words.every((word) => each.words.includes(word)))
    const isNew = ({ text }: Call): boolean => before.every((each) => each.text !== text)
    const isLoosened = (each: Call): boolean =>
      isNew(each) &&
      /propert/.test(each.name) &&
      decidesEnd.test(each.text) &&
      started.has(each.words[0] ?? '')
    for (const { text } of [
      ...before.filter((each) => isChecked(each) && !isKept(each)),
      ...after.filter(isLoosened),
    ])
      found.push({ what: `"${path}" no longer runs a test as before: ${shorten(text, 100)}`, where: path })
  }
  return found
}

interface Call {
  readonly name: string
  readonly words: readonly string[]
  readonly text: string
}

function callsIn(text: string): readonly Call[] {
  return [...text.replaceAll(/^\s*#.*$/gm, '').matchAll(/\b(\w+)\s*\(([^()]*)\)/g)].map(
    ([all, name = '', inner = '']) => ({
      name: name.toLowerCase(),
      words: inner.split(/[\s,'"]+/).filter((word) => word !== ''),
      text: all.replaceAll(/\s+/g, ' '),
    }),
  )
}

function isRegistration({ name }: Call): boolean {
  return /^(?:add_test|test|enable_testing|\w+_discover_tests)$/.test(name)
}

const decidesEnd = /WILL_FAIL|DISABLED|SKIP_|PASS_REGULAR_EXPRESSION/
