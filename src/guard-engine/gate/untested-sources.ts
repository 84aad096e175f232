import { type Evidence, newFailures } from '../../core/evidence.ts'
import type { Scene } from '../../rules/contract.ts'
import type { DeclaredCommand } from '../contract.ts'
import { isGreenRun } from '../history/gate.ts'
import { holdsTests } from '../tests/test-files.ts'

/** The key of the difference between two earlier trees. */
export function betweenKey(earlier: string, later: string): string {
  return `${earlier}..${later}`
}

/**
 * Changed sources without a failing test before them. A source is covered when it changed after a run in which a test failed that was not
 * failing when the session began, on a tree that already had a new or changed test; or that failed on the files of the start and is green
 * now, with the same tests. A change of sources alone under tests that were green before and are green now is a refactoring and needs none.
 */
export function untestedSources(
  { history, facts }: Scene,
  tree: string,
  required: readonly DeclaredCommand[],
): readonly string[] {
  const { baseTree } = history.gate
  const { changes } = facts
  if (baseTree === null || changes == null) return []
  if (isRefactoring({ history, facts }, [baseTree, tree], required)) return []
  const { reds = [], atStart = {} } = history.evidence
  const covered = new Set(
    reds.flatMap((red) => {
      const then = atStart[red.command]
      const isOld = then !== undefined && then.exitCode !== 0 && newFailures(red, then)?.length === 0
      const hasTest = changes[betweenKey(baseTree, red.treeHash)]?.tests === true
      const isFixed =
        red.treeHash === baseTree &&
        changes[baseTree]?.tests === false &&
        greenOn({ history, facts }, red.command, tree) !== undefined
      return (hasTest && !isOld) || isFixed ? (changes[red.treeHash]?.sources ?? []) : []
    }),
  )
  return (changes[baseTree]?.sources ?? []).filter((path) => !covered.has(path))
}

function isRefactoring(
  { history, facts }: Pick<Scene, 'history' | 'facts'>,
  [before, now]: readonly [string, string],
  required: readonly DeclaredCommand[],
): boolean {
  const { files = [], total = 0, tests = true } = facts.changes?.[before] ?? {}
  // Rust has tests in its sources. There the number of tests shows whether one was added.
  const isUnclear = tests && total <= files.length && !files.some((path) => holdsTests(path))
  if (tests && !isUnclear) return false
  const checks = required.filter(({ kind }) => kind === 'test' || kind === 'other')
  return (
    checks.length > 0 &&
    checks.every(({ command }) => {
      const [was, is] = [before, now].map((tree) => greenOn({ history, facts }, command, tree))
      if (was === undefined || is === undefined) return false
      return !isUnclear || (was.executed !== undefined && was.executed === is.executed)
    })
  )
}

function greenOn(
  { history, facts }: Pick<Scene, 'history' | 'facts'>,
  command: string,
  tree: string,
): Evidence | undefined {
  const { runs = [], atStart = {} } = history.evidence
  return [...Object.values(atStart), ...runs, ...facts.verify].findLast(
    (run) => run.command === command && run.treeHash === tree && isGreenRun(run),
  )
}
