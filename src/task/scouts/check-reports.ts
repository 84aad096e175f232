import { shorten } from '../../core/shorten.ts'
import type { DetectedFacts } from './detect-facts.ts'
import type { ScoutAReport, ScoutBReport } from './report-schemas.ts'
import { locate, type SourceTree } from './source-tree.ts'

export interface CheckedReport<Report> {
  readonly report: Report
  readonly corrections: readonly string[]
}

/** Every path and every line against the tree: an invented one is repaired where only one file can be meant, else dropped. */
export function checkScoutA(report: ScoutAReport, tree: SourceTree): CheckedReport<ScoutAReport> {
  const corrections: string[] = []
  const told = (what: string): void => void corrections.push(what)
  const paths = checkedPaths(tree, told)
  const { repo_map, risk_zones, change_boundaries, prior_art } = report
  const withPath = <T extends { readonly path: string }>(entry: T, where: string): T[] => {
    const path = paths.one(entry.path, where)
    return path === null ? [] : [{ ...entry, path }]
  }
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
        relevant_files: repo_map.relevant_files.flatMap((entry) => withPath(entry, 'relevant_files')),
        entry_points: repo_map.entry_points.flatMap((entry) => entryPoint(entry)),
      },
      risk_zones: risk_zones
        .flatMap((zone) => withFile(zone, 'risk_zones'))
        .flatMap((zone) => withLines(zone)),
      change_boundaries: {
        ...change_boundaries,
        safe_slices: change_boundaries.safe_slices.map((slice) => ({
          ...slice,
          // A slice may name a file that is still to be written: its directory must be there then.
          files: slice.files.flatMap((file) => sliceFile(file, slice.id)),
        })),
      },
      prior_art: prior_art.flatMap((entry) => withFile(entry, 'prior_art')),
    },
  }

  /** An entry point may be a command or a symbol; only what looks like a path is held to be one. */
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
      told(`risk_zones: ${zone.file} has ${count ?? 'no readable'} lines, not ${from} to ${to}; dropped`)
      return []
    }
    const [start_line, end_line] = [Math.max(1, from), Math.min(count, to)]
    if (start_line !== zone.start_line || end_line !== zone.end_line)
      told(
        `risk_zones: lines ${zone.start_line} to ${zone.end_line} of ${zone.file} became ${start_line} to ${end_line}`,
      )
    return [{ ...zone, start_line, end_line }]
  }
}

function isPlain(file: string): boolean {
  return file !== '' && !file.startsWith('/') && !file.split('/').includes('..') && !file.includes('\\')
}

/** Paths against the tree, and what code can find out against what code found: the model adds judgement, not facts. */
export function checkScoutB(
  report: ScoutBReport,
  tree: SourceTree,
  facts: DetectedFacts,
): CheckedReport<ScoutBReport> {
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

/** Keeps the entries whose path is in the tree, with the path as it really is. What was wrong is told. */
function checkedPaths(tree: SourceTree, told: (what: string) => void) {
  const checkOne = (path: string, where: string): string | null => {
    const found = locate(tree, path)
    if (found.kind === 'right') return path
    if (found.kind === 'unknown') {
      told(`${where}: there is no file ${shown(path)}; dropped`)
      return null
    }
    told(`${where}: ${shown(path)} is ${found.path}; repaired`)
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
