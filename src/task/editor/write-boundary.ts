import type { AgentHooks } from '../../agents/contract.ts'
import type { ToolCall } from '../../core/hook-event.ts'
import { withRefusalMark } from '../../core/refusal-mark.ts'
import { projectGrounds } from '../../guard-engine/boundary/bounds-of-settings.ts'
import { whyCall } from '../../guard-engine/boundary/why-call.ts'
import { type Ground, type WriteBounds, whyPath } from '../../guard-engine/boundary/write-bounds.ts'
import { openWorld } from '../../guard-engine/open-world.ts'
import type { World } from '../../shell/world.ts'

export interface Boundary {
  /** Absolute, real path of the tree the Editor works in. */
  readonly root: string
  /** Of the run store; nothing in it may be written. */
  readonly artefacts: string
  /** Scratch directory of the Editor, which may be written although it is outside. */
  readonly scratch: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Path of the package the task is confined to, relative to the root; null when it may change all of it. */
  readonly package: string | null
}

export interface WriteBoundary {
  /** Why an absolute path, links resolved, must not be written; null when it may be. */
  whyRefused(path: string): string | null
  /** The same before the Editor's tool is used. */
  hooks(toToolCall: (tool: string, input: unknown) => ToolCall): AgentHooks
}

/** What verifies the work, and what is Gantry's own or git's, relative to the root. */
export const protectedNames: readonly string[] = ['agent.yaml', 'agent.yml', 'agent', '.git']

/** The Editor changes files of the repository and nothing else. */
export function writeBoundary(boundary: Boundary): WriteBoundary {
  const { root, home, env } = boundary
  const openEyes = (): World => openWorld({ root, home, env, own: [] })
  return {
    whyRefused: (path) => {
      const world = openEyes()
      return whyPath(world.resolve(path).real, boundsOf(boundary, world))
    },
    hooks: (toToolCall) => ({
      beforeTool: async ({ tool, input }) => {
        const world = openEyes()
        const why = whyCall(toToolCall(tool, input), root, boundsOf(boundary, world), world)
        return why === null ? { kind: 'allow' } : { kind: 'deny', reason: withRefusalMark(why) }
      },
    }),
  }
}

/** The copy of a dry run lies in the artefact directory, the artefact directory perhaps in the repository: the nearer decides. */
function boundsOf({ root, artefacts, scratch, package: inner }: Boundary, world: World): WriteBounds {
  const kept = protectedNames.map((name): Ground => {
    const why = `${name} decides how the work is verified or is not the Editor's, and stays as it is`
    return { kind: 'kept', path: `${root}/${name}`, why }
  })
  return {
    root,
    git: 'read',
    grounds: [
      ...projectGrounds(root, inner ?? ''),
      ...kept,
      {
        kind: 'kept',
        path: world.resolve(artefacts).real,
        why: 'it is in the artefact directory, which the Editor only reads',
      },
      { kind: 'open', path: world.resolve(scratch).real },
    ],
  }
}
