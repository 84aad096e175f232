import type { Checked } from './check-scout-a.ts'
import { checkedPaths } from './checked-paths.ts'
import type { DetectedFacts } from './detect-facts.ts'
import type { ScoutBReport } from './scout-b-schema.ts'
import type { SourceTree } from './source-tree.ts'

/** Paths against the tree, and what code can find out against what code found: the model adds judgement, not facts. */
export function checkScoutB(
  report: ScoutBReport,
  tree: SourceTree,
  facts: DetectedFacts,
): Checked<ScoutBReport> {
  const corrections: string[] = []
  const told = (what: string): void => void corrections.push(what)
  const paths = checkedPaths(tree, told)
  const { build, test, failure_analysis } = report
  return {
    corrections,
    report: {
      ...report,
      ...(build != null && { build: { ...build, detected_system: system(build.detected_system) } }),
      ...(test != null && { test: { ...test, detected_framework: framework(test.detected_framework) } }),
      ...(failure_analysis != null && {
        failure_analysis: {
          ...failure_analysis,
          affected_files: paths.all(failure_analysis.affected_files, 'affected_files'),
        },
      }),
    },
  }

  function system(told_: DetectedFacts['buildSystems'][number]): DetectedFacts['buildSystems'][number] {
    const [found] = facts.buildSystems
    if (found === undefined || facts.buildSystems.includes(told_)) return told_
    told(
      `build.detected_system: ${told_} became ${found}, by ${facts.evidence[found] ?? 'the files of the repository'}`,
    )
    return found
  }

  function framework(told_: DetectedFacts['frameworks'][number]): DetectedFacts['frameworks'][number] {
    const [found] = facts.frameworks
    if (found === undefined || facts.frameworks.includes(told_)) return told_
    told(
      `test.detected_framework: ${told_} became ${found}, by ${facts.evidence[found] ?? 'the files of the repository'}`,
    )
    return found
  }
}
