import { basename } from 'node:path'
import type { ActiveTask } from './active-task.ts'
import { isSource } from './editor/sample-conventions.ts'
import { bodyOf, comparedCalls, linesOf, nameOf, valuesIn } from './test-body.ts'

/** Sources that are searched for a check without the name of a test. */
const maxSources = 1_000

/** The values that the tests which failed on the untouched tree compare with, also in files that they name; null where some are unknown. */
export async function expectedValues({
  tree,
  baseline,
  known,
}: ActiveTask): Promise<ReadonlySet<string> | null> {
  const red = known.untouched?.evidence.flatMap(({ failures = [] }) => failures) ?? []
  const names = new Set(red.map(nameOf))
  const texts = await tree.texts(baseline.tree)
  const paths = [...texts.paths]
  const linesIn = async (path: string): Promise<readonly string[]> => linesOf(await texts.read(path))
  const homeless = new Set(names)
  const found: string[] = []
  const tests =
    names.size === 0 ? paths.filter(isSource).slice(0, maxSources) : Object.keys(baseline.tests.files)
  for (const path of tests) {
    const text = await texts.read(path)
    const lines = linesOf(text)
    const here = [...names].filter((name) => text.includes(name))
    const bodies = here.map((name) => ({ name, body: bodyOf(lines, name) }))
    for (const { name, body } of bodies) if (body.length > 0) homeless.delete(name)
    const checks =
      names.size === 0
        ? lines.filter((line) => comparedCalls([line]).length > 0)
        : bodies.flatMap(({ body }) => body)
    if (checks.length === 0) continue
    const data = paths.filter(
      (each) => !isSource(each) && lines.some((line) => line.includes(basename(each))),
    )
    found.push(...checks, ...(await Promise.all(data.map(linesIn))).flat())
  }
  return found.length === 0 || homeless.size > 0 ? null : valuesIn(found)
}
