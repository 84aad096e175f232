import { posix } from 'node:path'

/** Names in those sentences of a prompt that ask to remove something: "remove the tax module and its test". */
export function namesToRemove(prompt: string): readonly string[] {
  const sentences = prompt.slice(0, 2_000).split(/[.!?;](?:\s|$)|\n/)
  const asking = sentences.filter((text) => removal.test(text) && !negation.test(text))
  return [...new Set(asking.flatMap((text) => text.match(/[\w-]+/g) ?? []).map(plainName))]
    .filter((name) => name.length > 1)
    .slice(0, maxNames)
}

const removal = /\b(?:remove|delete|drop|get rid of)\b/i
const negation = /\b(?:not|never|don['’]?t|without|except|keep)\b/i
const maxNames = 100

/** `tests/test_tax.py`, `src/tax.test.ts` and `TaxTest.java` are the tests of `tax`. */
export function isTestOf(path: string, names: readonly string[]): boolean {
  return isNamed(posix.basename(path).replace(/\..*/, ''), names)
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
