import { shorten } from '../../core/shorten.ts'
import type { DetectedFacts } from './detect-facts.ts'
import type { ScoutAReport, ScoutBReport } from './report-schemas.ts'
import { locate, type SourceTree } from './source-tree.ts'

export interface CheckedReport<Report> {
  readonly report: Report
  readonly corrections: readonly string[]
}

/** Checks every path and line against the tree. A wrong path is repaired when only one file can be meant, else dropped. */
export function checkScoutA(report: ScoutAReport, tree: SourceTree): CheckedReport<ScoutAReport> {
  const corrections: string[] = []
  const correct = (what: string): void => void corrections.push(what)
  const paths = checkedPaths(tree, correct)
  const { repo_map, risk_zones, change_boundaries, prior_art } = report
  const withFile = <T extends { readonly file: string }>(entry: T, where: string): T[] => {
    const file = paths.one(entry.file, where)
    return file === null ? [] : [{ ...entry, file }]
  }
  return {
    corrections,
    report: {
      ...report,
      repo_map: {
        ...repo_map,
        relevant_files: repo_map.relevant_files.flatMap((entry) => {
          const path = paths.one(entry.path, 'relevant_files')
          return path === null ? [] : [{ ...entry, path }]
        }),
        entry_points: repo_map.entry_points.flatMap(entryPoint),
      },
      risk_zones: risk_zones.flatMap((zone) => withFile(zone, 'risk_zones')).flatMap(withLines),
      change_boundaries: {
        ...change_boundaries,
        safe_slices: change_boundaries.safe_slices.map((slice) => ({
          ...slice,
          // A slice may name a new file if its directory exists.
          files: slice.files.flatMap((file) => sliceFile(file, slice.id)),
        })),
      },
      prior_art: prior_art.flatMap((entry) => withFile(entry, 'prior_art')),
    },
  }

  /** An entry point may be a command or a symbol, so only check what looks like a path. */
  function entryPoint(entry: string): string[] {
    if (!/^[\w@./-]+\.[A-Za-z]{1,6}$/.test(entry.trim())) return [entry]
    const path = paths.one(entry, 'entry_points')
    return path === null ? [] : [path]
  }

  function sliceFile(file: string, slice: string): string[] {
    const directory = file.includes('/') ? file.slice(0, file.lastIndexOf('/') + 1) : ''
    const isNew = !tree.paths.includes(file) && isPlain(file) && hasDirectory(directory)
    if (isNew && !tree.paths.some((path) => path.endsWith(`/${file}`))) return [file]
    const found = paths.one(file, `safe slice ${slice}`)
    return found === null ? [] : [found]
  }

  function hasDirectory(directory: string): boolean {
    return directory === '' || tree.paths.some((path) => path.startsWith(directory))
  }

  function withLines(zone: ScoutAReport['risk_zones'][number]): ScoutAReport['risk_zones'] {
    const count = tree.lineCount(zone.file)
    const [from, to] = [Math.min(zone.start_line, zone.end_line), Math.max(zone.start_line, zone.end_line)]
    if (count === null || from > count || to < 1) {
      correct(`risk_zones: ${zone.file} has ${count ?? 'no readable'} lines, not ${from} to ${to}, dropped`)
      return []
    }
    const [start_line, end_line] = [Math.max(1, from), Math.min(count, to)]
    if (start_line !== zone.start_line || end_line !== zone.end_line)
      correct(
        `risk_zones: lines ${zone.start_line} to ${zone.end_line} of ${zone.file} became ${start_line} to ${end_line}`,
      )
    return [{ ...zone, start_line, end_line }]
  }
}

function isPlain(file: string): boolean {
  return file !== '' && !file.startsWith('/') && !file.split('/').includes('..') && !file.includes('\\')
}

/** Checks paths against the tree and detectable facts against the detected ones: the model adds judgement, not facts. */
export function checkScoutB(
  report: ScoutBReport,
  tree: SourceTree,
  facts: DetectedFacts,
): CheckedReport<ScoutBReport> {
  const corrections: string[] = []
  const correct = (what: string): void => void corrections.push(what)
  const paths = checkedPaths(tree, correct)
  const { build, test, failure_analysis } = report
  return {
    corrections,
    report: {
      ...report,
      ...(build != null && {
        build: {
          ...build,
          detected_system: detected('build.detected_system', build.detected_system, facts.buildSystems),
        },
      }),
      ...(test != null && {
        test: {
          ...test,
          detected_framework: detected('test.detected_framework', test.detected_framework, facts.frameworks),
        },
      }),
      ...(failure_analysis != null && {
        failure_analysis: {
          ...failure_analysis,
          affected_files: paths.all(failure_analysis.affected_files, 'affected_files'),
        },
      }),
    },
  }

  function detected<T extends keyof DetectedFacts['evidence']>(
    field: string,
    claimed: T,
    known: readonly T[],
  ): T {
    const [found] = known
    if (found === undefined || known.includes(claimed)) return claimed
    correct(
      `${field}: ${claimed} became ${found}, by ${facts.evidence[found] ?? 'the files of the repository'}`,
    )
    return found
  }
}

/** Keeps the entries whose path is in the tree, with the real path. Reports each correction. */
function checkedPaths(tree: SourceTree, correct: (what: string) => void) {
  const checkOne = (path: string, where: string): string | null => {
    const found = locate(tree, path)
    if (found.kind === 'right') return path
    if (found.kind === 'unknown') {
      correct(`${where}: there is no file ${shown(path)}, dropped`)
      return null
    }
    correct(`${where}: ${shown(path)} is ${found.path}, repaired`)
    return found.path
  }
  return {
    one: checkOne,
    all: (paths: readonly string[], where: string): string[] => [
      ...new Set(paths.map((path) => checkOne(path, where)).filter((path) => path !== null)),
    ],
  }
}

function shown(path: string): string {
  return JSON.stringify(shorten(path, 200))
}
