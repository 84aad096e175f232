import { dirname, join, normalize } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { ResolvedAgent } from '../config/resolve-agent.ts'
import { GantryError } from '../core/error.ts'
import { entryKind } from '../io/path-kind.ts'
import { escapingLink } from '../io/resolve-inside.ts'
import { sha256 } from '../io/sha256.ts'
import { snapshotTree } from '../io/tree-snapshot.ts'
import type { Case } from './case.ts'
import { workspaceVariable } from './grader-scripts.ts'
import type { Scenario } from './schema.ts'
import { initialState } from './workspace.ts'

/** Files that an arm lays over the templates. */
export interface ArmOverlay {
  readonly hash: string
  /** What it changes in each template; empty when all its files are the same there. */
  readonly changes: readonly unknown[]
}

/** By the name of the arm. Refuses an overlay that cannot be copied, and one that replaces what grades the agent. */
export function readOverlays(
  agents: ReadonlyMap<string, ResolvedAgent>,
  cases: readonly Case[],
): ReadonlyMap<string, ArmOverlay> {
  const overlays = new Map<string, ArmOverlay>()
  for (const [name, { arm }] of agents) {
    if (arm?.overlay == null) continue
    const directory = arm.overlay
    const refuse = (problem: string, hint: string): never => {
      throw new GantryError('USAGE', `the overlay of '${name}' ${problem}`, { hint })
    }
    const link = escapingLink(directory)
    if (link !== null)
      refuse(
        `has the link ${link.path}: ${link.reason}`,
        'Remove it, or point it to a path inside the overlay.',
      )
    const files = [...snapshotTree(directory)]
    const closed = files.find(([, { kind, hash }]) => kind === 'file' && hash === null)?.[0]
    if (closed !== undefined) refuse(`has ${closed}, which cannot be read`, 'Change its permissions.')
    const templates = Map.groupBy(cases, ({ templateDir }) => templateDir)
    const changes = [...templates].map(([template, users]) => {
      const [root, initial] = [snapshotTree(template), snapshotTree(join(template, initialState))]
      const paths = files.map(([path]) => path)
      const clash = paths.flatMap(withParents).find((path) => differsInKind(path, directory, template))
      if (clash !== undefined)
        refuse(
          `has ${clash}, which is a directory on one side and a file on the other in '${users[0]?.name}'`,
          'A file can replace only a file, a directory only a directory.',
        )
      const changed = files.filter(
        ([path, entry]) => !isDeepStrictEqual(initial.get(path) ?? root.get(path), entry),
      )
      for (const { name: graded, scenario } of users) {
        const named = namedBy(commandsOf(scenario))
        const grader = changed.find(([path]) => named(path))?.[0]
        if (grader !== undefined)
          refuse(`has ${grader}, which grades '${graded}'`, 'All arms must be graded alike: remove it there.')
      }
      return changed
    })
    overlays.set(name, {
      hash: sha256(JSON.stringify(files)),
      changes: changes.every(({ length }) => length === 0) ? [] : changes,
    })
  }
  return overlays
}

function withParents(path: string): readonly string[] {
  return path === '.' ? [] : [...withParents(dirname(path)), path]
}

/** Where the copy of one would be in the way of the other. */
function differsInKind(path: string, overlay: string, template: string): boolean {
  const there = entryKind(join(template, initialState, path)) ?? entryKind(join(template, path))
  return there !== null && (there === 'directory') !== (entryKind(join(overlay, path)) === 'directory')
}

/** Of gates of every type, post scripts and evaluators. */
function commandsOf({ evaluation, scripts }: Scenario): readonly string[] {
  return [...evaluation.gates, ...scripts.post, ...scripts.evaluators]
    .flatMap((entry) => Object.entries(entry))
    .flatMap(([key, value]) => (key === 'command' && typeof value === 'string' ? [value] : []))
}

/**
 * Whether a command names a path, anywhere in its text and also from a directory that it names, as `cd scripts && ./check.sh` does.
 * What a script, a Makefile or a runner of tests opens by itself is not seen.
 */
function namedBy(commands: readonly string[]): (path: string) => boolean {
  const named = new Set(
    commands.flatMap((command) => {
      const words = command.split(/[\s'"`;&|()<>=,]+/).map((word) => word.replace(workspaceVariable, ''))
      return words
        .flatMap((word) => [word, ...words.map((directory) => join(directory, word))])
        .map(normalize)
    }),
  )
  return (path) => named.has(path)
}
