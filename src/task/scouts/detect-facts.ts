import { basename } from 'node:path/posix'
import { type LogPlace, logPlaces } from '../log-places.ts'
import type { ScoutBReport } from './report-schemas.ts'
import { locate, type SourceTree } from './source-tree.ts'

type BuildSystem = NonNullable<ScoutBReport['build']>['detected_system']
type Framework = NonNullable<ScoutBReport['test']>['detected_framework']

/** What code can find out about a build without asking anybody. */
export interface DetectedFacts {
  /** Likeliest first. */
  readonly buildSystems: readonly BuildSystem[]
  readonly frameworks: readonly Framework[]
  /** The file by which each was found. */
  readonly evidence: Readonly<Partial<Record<BuildSystem | Framework, string>>>
  /** Commands that are written down, with where. */
  readonly commands: readonly { readonly command: string; readonly source: string }[]
  readonly environmentIssues: ScoutBReport['environment_issues']
  /** Where the traces of a failing log point, innermost first. */
  readonly frames: readonly LogPlace[]
}

export function detectFacts(
  tree: SourceTree,
  commands: DetectedFacts['commands'],
  failureLog: string,
): DetectedFacts {
  const evidence: Partial<Record<BuildSystem | Framework, string>> = {}
  const buildSystems: BuildSystem[] = []
  const frameworks: Framework[] = []
  for (const [system, pattern] of systemFiles) {
    const file = tree.paths.find((path) => pattern.test(path))
    if (file === undefined) continue
    buildSystems.push(system)
    evidence[system] = file
  }
  // npm's lockfile is no second system beside another manager's.
  if (buildSystems.some((system) => system === 'yarn' || system === 'pnpm')) remove(buildSystems, 'npm')
  for (const [framework, find] of frameworkTests) {
    const file = find(tree)
    if (file === null) continue
    frameworks.push(framework)
    evidence[framework] = file
  }
  return {
    buildSystems,
    frameworks,
    evidence,
    commands,
    environmentIssues: [...issuesInTree(tree, evidence), ...issuesInLog(failureLog)],
    frames: traceFrames(failureLog, tree),
  }
}

/** At the top first; a nested one only counts where there is none above. */
const systemFiles: readonly (readonly [BuildSystem, RegExp])[] = [
  ['pnpm', /^pnpm-lock\.yaml$/],
  ['yarn', /^yarn\.lock$/],
  ['npm', /^package\.json$/],
  ['cargo', /^Cargo\.toml$/],
  ['go', /^go\.(?:mod|work)$/],
  ['gradle', /^(?:build\.gradle(?:\.kts)?|gradlew)$/],
  ['maven', /^pom\.xml$/],
  ['make', /^(?:GNUm|m|M)akefile$/],
]

const frameworkTests: readonly (readonly [Framework, (tree: SourceTree) => string | null])[] = [
  ['vitest', (tree) => named(tree, /^vitest\.config\.[cm]?[jt]s$/) ?? dependency(tree, 'vitest')],
  ['jest', (tree) => named(tree, /^jest\.config\.[cm]?[jt]s(?:on)?$/) ?? dependency(tree, 'jest')],
  ['mocha', (tree) => named(tree, /^\.mocharc\.[a-z]+$/) ?? dependency(tree, 'mocha')],
  [
    'pytest',
    (tree) =>
      named(tree, /^(?:pytest\.ini|conftest\.py)$/) ??
      mentions(
        tree,
        /^(?:pyproject\.toml|setup\.cfg|tox\.ini|requirements[\w-]*\.txt|Pipfile)$/,
        /\bpytest\b/,
      ),
  ],
  ['go test', (tree) => named(tree, /_test\.go$/)],
  ['cargo test', (tree) => named(tree, /^Cargo\.toml$/)],
  ['junit', (tree) => mentions(tree, /^(?:pom\.xml|build\.gradle(?:\.kts)?)$/, /junit/i)],
]

function named(tree: SourceTree, pattern: RegExp): string | null {
  return tree.paths.find((path) => pattern.test(basename(path))) ?? null
}

function mentions(tree: SourceTree, files: RegExp, pattern: RegExp): string | null {
  return tree.paths.find((path) => files.test(basename(path)) && pattern.test(tree.text(path) ?? '')) ?? null
}

function dependency(tree: SourceTree, name: string): string | null {
  return mentions(tree, /^package\.json$/, new RegExp(`"${name}"\\s*:`))
}

function issuesInTree(
  tree: SourceTree,
  evidence: DetectedFacts['evidence'],
): ScoutBReport['environment_issues'] {
  const issues: ScoutBReport['environment_issues'] = []
  const locks = ['package-lock.json', 'yarn.lock', 'pnpm-lock.yaml'].filter((name) =>
    tree.paths.includes(name),
  )
  if (evidence.npm !== undefined && locks.length === 0 && dependency(tree, '[^"]+') !== null)
    issues.push({
      issue: 'package.json has no lockfile beside it: what is installed may differ from run to run',
      severity: 'warning',
      suggested_fix: 'Commit a lockfile.',
    })
  if (locks.length > 1)
    issues.push({
      issue: `several lockfiles: ${locks.join(', ')}`,
      severity: 'warning',
      suggested_fix: 'Keep that of the package manager in use.',
    })
  return issues
}

const logIssues: readonly (readonly [
  RegExp,
  (match: RegExpExecArray) => ScoutBReport['environment_issues'][number],
])[] = [
  [
    /(?:^|\n)(?:.*: )?(?:\d+: )?([\w.+-]+): (?:command )?not found/,
    ([, program = '']) => ({
      issue: `the program ${program} is not in the image`,
      severity: 'blocking',
      suggested_fix: `Use an image with ${program}, or install it in a step.`,
    }),
  ],
  [
    /Cannot find module '([^']+)'|No module named '?([\w.]+)|cannot find package "([^"]+)"/,
    (match) => ({
      issue: `the dependency ${match.slice(1).find((group) => group !== undefined) ?? ''} is not installed`,
      severity: 'blocking',
      suggested_fix: 'Install dependencies in a step before, or mount them by a cache.',
    }),
  ],
  [
    /EROFS|Read-only file system/,
    () => ({
      issue: 'a step writes into the read-only workspace',
      severity: 'blocking',
      suggested_fix: 'Set verification.workspace to overlay, or write to $TMPDIR.',
    }),
  ],
  [
    /ENETUNREACH|EAI_AGAIN|Temporary failure in name resolution|Network is unreachable/,
    () => ({
      issue: 'a step needs the network, which is off',
      severity: 'blocking',
      suggested_fix: 'Set verification.network to allow, or bring what it fetches into the image.',
    }),
  ],
  [
    /ENOSPC|No space left on device/,
    () => ({ issue: 'the disk is full', severity: 'blocking', suggested_fix: 'Free some space.' }),
  ],
]

function issuesInLog(log: string): ScoutBReport['environment_issues'] {
  return logIssues.flatMap(([pattern, issue]) => {
    const match = pattern.exec(log)
    return match === null ? [] : [issue(match)]
  })
}

function remove<T>(list: T[], value: T): void {
  const index = list.indexOf(value)
  if (index !== -1) list.splice(index, 1)
}

const maxFrames = 20

/** Places in the repository that a log points to, in the order of their mention, each once. */
export function traceFrames(log: string, tree: SourceTree): readonly LogPlace[] {
  const frames = new Map<string, LogPlace>()
  for (const { path: printed, line } of logPlaces(log)) {
    const where = locate(tree, printed)
    if (where.kind === 'unknown') continue
    const path = where.kind === 'repaired' ? where.path : printed
    if (line >= 1 && line <= (tree.lineCount(path) ?? 0)) frames.set(`${path}:${line}`, { path, line })
    if (frames.size === maxFrames) break
  }
  return [...frames.values()]
}
