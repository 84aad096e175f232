import { basename } from 'node:path/posix'
import { missingPackage, missingProgram } from '../../verifier/diagnose.ts'
import { type LogPlace, logPlaces } from '../log-places.ts'
import type { ScoutBReport } from './report-schemas.ts'
import { locate, type SourceTree } from './source-tree.ts'

type BuildSystem = NonNullable<ScoutBReport['build']>['detected_system']
type Framework = NonNullable<ScoutBReport['test']>['detected_framework']

/** Facts about a build found without a model. */
export interface DetectedFacts {
  /** Likeliest first. */
  readonly buildSystems: readonly BuildSystem[]
  readonly frameworks: readonly Framework[]
  /** The file that proves each one. */
  readonly evidence: Readonly<Partial<Record<BuildSystem | Framework, string>>>
  /** Commands found in files, with their source. */
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
  const hasOther = buildSystems.includes('yarn') || buildSystems.includes('pnpm')
  for (const [framework, find] of frameworkTests) {
    const file = find(tree)
    if (file === null) continue
    frameworks.push(framework)
    evidence[framework] = file
  }
  return {
    // npm's lockfile beside another manager's does not count.
    buildSystems: buildSystems.filter((system) => system !== 'npm' || !hasOther),
    frameworks,
    evidence,
    commands,
    environmentIssues: [
      ...issuesInTree(tree, evidence),
      ...issuesInLog(failureLog).map(({ subject: _, ...issue }) => issue),
    ],
    frames: traceFrames(failureLog, tree),
  }
}

/** Prefers the top level. A nested file counts only when there is none above it. */
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

type EnvironmentIssue = ScoutBReport['environment_issues'][number]

/** An issue that the output of a step shows. */
export interface LogIssue extends EnvironmentIssue {
  /** What is missing. */
  readonly subject?: { readonly kind: 'program' | 'dependency'; readonly name: string }
}

const logIssues: readonly (readonly [RegExp, (name: string) => LogIssue])[] = [
  [
    missingProgram,
    (name) => ({
      issue: `the program ${name} is not in the image`,
      severity: 'blocking',
      suggested_fix: `Use an image with ${name}, or install it in setup.`,
      subject: { kind: 'program', name },
    }),
  ],
  [
    missingPackage,
    (name) => ({
      issue: `the dependency ${name} is not installed`,
      severity: 'blocking',
      suggested_fix: 'Install dependencies in setup.',
      subject: { kind: 'dependency', name },
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

export function issuesInLog(log: string): readonly LogIssue[] {
  return logIssues.flatMap(([pattern, issue]) => {
    const match = pattern.exec(log)
    return match === null ? [] : [issue(match.slice(1).find(Boolean) ?? '')]
  })
}

const maxFrames = 20

/** Places in the repository that a log points to, in log order, without duplicates. */
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
