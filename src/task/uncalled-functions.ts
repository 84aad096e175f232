import { captures } from '../core/captures.ts'
import { isOfTests } from '../guard-engine/tests/test-files.ts'
import type { ActiveTask, KeptVerification } from './active-task.ts'
import type { Weakening } from './contract.ts'
import { asksForTests, asksToDelete } from './cross-run.ts'
import { isSource } from './editor/sample-conventions.ts'
import { callWithValues, defines, linesOf } from './test-body.ts'

const maxRead = 200

/** Functions of the sources that changed tests called with values before, and that no test names any more: their tests were replaced. */
export async function uncalledFunctions(
  { tree, baseline, request }: ActiveTask,
  verification: KeptVerification,
): Promise<readonly Weakening[]> {
  const { description } = request
  if (asksForTests.test(description)) return []
  const changed = await tree.changes(baseline.tree, verification.tree)
  const [before, after] = [await tree.texts(baseline.tree), await tree.texts(verification.tree)]
  const linesIn = async (texts: typeof before, paths: readonly string[]): Promise<readonly string[]> =>
    (await Promise.all(paths.slice(0, maxRead).map(texts.read))).flatMap(linesOf)
  const paths = [...after.paths]
  const tests = paths.filter(isOfTests)
  // With more tests than are read, one of the others may call it.
  if (tests.length > maxRead) return []
  const uses = (await linesIn(after, tests)).filter((line) => !/^(?:import|from|use|using)\b/.test(line))
  const named = new Set(uses.flatMap((line) => line.match(/\w+/g) ?? []))
  const calls = new RegExp(callWithValues, 'g')
  const lost = changed.filter(isOfTests).map(async (path): Promise<readonly Weakening[]> => {
    const lines = before.paths.has(path) ? await linesIn(before, [path]) : []
    const names = new Set(lines.flatMap((line) => captures(line, calls)))
    const gone = [...names].filter((name) => !named.has(name) && !isToDelete(name, description))
    if (gone.length === 0) return []
    const sources = paths.filter((each) => isSource(each) && !isOfTests(each) && before.paths.has(each))
    const kept = new Set(await linesIn(after, sources))
    const definitions = (await linesIn(before, sources)).filter((line) => kept.has(line))
    return gone
      .filter((name) => definitions.some((line) => defines([line], name)))
      .map((name) => ({ what: `no test calls \`${name}\` any more: "${path}"`, where: path }))
  })
  return (await Promise.all(lost)).flat()
}

function isToDelete(name: string, description: string): boolean {
  return asksToDelete.test(description) && new RegExp(`\\b${name}\\b`).test(description)
}
