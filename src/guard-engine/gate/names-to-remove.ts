import { posix } from 'node:path'
import { inEnglish } from './in-english.ts'

/**
 * Names in those sentences of a prompt that ask to remove something: "remove the tax module and its test". In "test_old.py is obsolete. Delete
 * it." the name is in the sentence before.
 */
export function namesToRemove(prompt: string): readonly string[] {
  const sentences = prompt.slice(0, 2_000).split(/[.!?;](?:\s|$)|\n/)
  const read = sentences.map(inEnglish)
  const asks = read.map((text) => removal.test(text) && !negation.test(text))
  const asking = sentences
    .filter(
      (_, index) =>
        asks[index] === true || (asks[index + 1] === true && pointing.test(read[index + 1] ?? '')),
    )
    .map(withoutPlaces)
  const plain = asking.flatMap((text) => text.match(/[\w-]+/g) ?? []).map(plainName)
  const tests = asking.flatMap((text) => text.match(/[\w.-]+/g) ?? []).filter((word) => namesTest.test(word))
  return [...new Set([...plain, ...tests.map(testName)])].filter((name) => name.length > 1).slice(0, maxNames)
}

const namesTest = /^(?:tests?|spec)[_.-]\w|\w[_.-](?:tests?|spec)\b|[a-z](?:Tests?|Spec)\b/

/** "Remove the import in test_tax.py" asks for nothing else in that file; "the test in test_tax.py" does. */
function withoutPlaces(text: string): string {
  return text.replaceAll(place, (all, at: number) => (aboutTests.test(text.slice(0, at)) ? all : ''))
}

const place = /\b(?:in|from|inside|within)\s+(?:(?:the|file|module|tests?)\s+){0,3}[\w./-]*\w/gi
const aboutTests = /(?<![a-z])(?:test|spec)|Test|Spec/

const removal =
  /\b(?:remove|delete|drop|get rid of)\b|\b(?:skip|disable)\s+(?:(?:that|this|the)\s+)*(?:it|them|[\w/.]*tests?)\b/i
const pointing =
  /\b(?:remove|delete|drop|get rid of|skip|disable)\s+(?:it|them|(?:that|this|these|those|the)(?:\s+(?:file|test|module|class|function)s?)?)\s*(?:[,.!?)]|$|please\b|and\b|for\b|with\b|completely\b|entirely\b)/i
const negation = /\b(?:not|never|don['’]?t|without|except|keep)\b/i
const maxNames = 100

/** `tests/test_tax.py`, `src/tax.test.ts` and `TaxTest.java` are the tests of `tax`. */
export function isTestOf(path: string, names: readonly string[]): boolean {
  return isNamed(posix.basename(path).replace(/\..*/, ''), names)
}

/** Whether the user named this file of tests itself, and not only what it tests. */
export function isNamedTest(path: string, names: readonly string[]): boolean {
  return namesTest.test(posix.basename(path)) && names.includes(testName(posix.basename(path)))
}

/** With a mark that no plain name has. */
function testName(word: string): string {
  return `.${word.replace(/\.(?:[cm]?[jt]sx?|py|rb|go|java|kt|php|ex|exs|rs|bats|sh|t)?$/, '').toLowerCase()}`
}

/** Whether the user named this function, class or file. */
export function isNamed(word: string, names: readonly string[]): boolean {
  const name = plainName(word)
  return name !== '' && names.includes(name)
}

function plainName(word: string): string {
  return word
    .replace(/^tests?[_-]|[_-]?(?:tests?|spec)$/i, '')
    .replaceAll(/[_-]/g, '')
    .toLowerCase()
}
