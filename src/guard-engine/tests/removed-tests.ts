import { captures } from '../../core/captures.ts'
import type { TestLanguage } from './test-files.ts'

/**
 * What each test called that went away from a file; empty when anything else of the file changed but its imports. `now` is null when the
 * file was deleted.
 */
export function callsOfRemoved(
  before: string,
  now: string | null,
  language: TestLanguage,
): readonly ReadonlySet<string>[] {
  const [was, is] = [before, now ?? ''].map((text) => testsIn(text, language))
  if (was === undefined || is === undefined) return []
  const removed = was.tests.filter((test) => !is.tests.includes(test))
  const isLess = is.tests.every((test) => was.tests.includes(test))
  const isOnlyLess = isLess && is.tests.length === was.tests.length - removed.length
  if (!isOnlyLess || (now !== null && is.before !== was.before)) return []
  return removed
    .filter((test) => test.search(language.cases) >= 0)
    .map((test) => new Set(captures(test, /\b([A-Za-z_]\w*)\s*\(/g)))
}

/** The code before the first test, and each test with its decorators, without imports and closing brackets. */
function testsIn(
  text: string,
  language: TestLanguage,
): { readonly before: string; readonly tests: string[] } {
  const blocks: string[][] = [[]]
  let isDecorated = false
  for (const line of text
    .replaceAll(language.comments, '')
    .split('\n')
    .map((each) => each.trim())) {
    if (isFrame.test(line)) continue
    const isDecorator = /^(?:@\w|#\[)/.test(line)
    const isHead = isDecorator || isGroup.test(line) || line.search(language.cases) >= 0
    if (isHead && !isDecorated) blocks.push([])
    blocks.at(-1)?.push(line)
    isDecorated = isDecorator
  }
  const [before = '', ...tests] = blocks.map((block) => block.join('\n'))
  return { before, tests }
}

const isGroup = /^(?:describe|context|suite|class|mod)\b/
/** Also the names of a long import, one on each line. */
const isFrame = /^[\s)}\];,]*(?:end)?$|^(?:import|from|use)\s|\brequire\s*\(|^[A-Za-z_]\w*,$/
