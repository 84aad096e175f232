import type { AgentHooks } from '../../agents/contract.ts'
import type { ToolCall } from '../../core/hook-event.ts'
import { withRefusalMark } from '../../core/refusal-mark.ts'
import { openWorld } from '../../guard-engine/open-world.ts'
import { callRefusal } from '../../guard-engine/write-limits/call-refusal.ts'
import {
  pathRefusal,
  projectAreas,
  type WriteArea,
  type WriteLimits,
} from '../../guard-engine/write-limits/write-limits.ts'
import type { World } from '../../shell/world.ts'

export interface EditorPlaces {
  /** Absolute, real path of the tree the Editor works in. */
  readonly root: string
  /** Directory of the run store, which is read-only. */
  readonly artefacts: string
  /** Scratch directory of the Editor, outside the repository and writable. */
  readonly scratch: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Path of the package the task is confined to, relative to the root; null for the whole repository. */
  readonly package: string | null
}

export type EditorWriteLimits = ReturnType<typeof editorWriteLimits>

/** Files that define the verification or belong to Gantry or git, relative to the root. */
export const protectedNames: readonly string[] = ['agent.yaml', 'agent.yml', '.git']

/** The Editor may change files of the repository and nothing else. */
export function editorWriteLimits(places: EditorPlaces) {
  const { root, home, env } = places
  const look = (): World => openWorld({ root, home, env, own: [] })
  return {
    /** Why an absolute path with resolved links must not be written; null when it may be. */
    whyRefused: (path: string): string | null => {
      const world = look()
      return pathRefusal(world.resolve(path).real, limitsOf(places, world))
    },
    /** The same check for a tool call of the Editor. */
    hooks: (toToolCall: (tool: string, input: unknown) => ToolCall): AgentHooks => ({
      beforeTool: async ({ tool, input }) => {
        const world = look()
        const why = callRefusal(toToolCall(tool, input), root, limitsOf(places, world), world)
        return why === null ? { kind: 'allow' } : { kind: 'deny', reason: withRefusalMark(why) }
      },
    }),
  }
}

/** The innermost area decides: a dry run works on a copy in the artefact directory, which may be inside the repository. */
function limitsOf({ root, artefacts, scratch, package: inner }: EditorPlaces, world: World): WriteLimits {
  const kept = protectedNames.map((name): WriteArea => {
    const why = `${name} decides how the work is verified, or does not belong to the Editor, and must not change`
    return { kind: 'kept', path: `${root}/${name}`, why }
  })
  return {
    root,
    git: 'read',
    areas: [
      ...projectAreas(root, inner ?? ''),
      ...kept,
      {
        kind: 'kept',
        path: world.resolve(artefacts).real,
        why: 'it is in the artefact directory, which the Editor may only read',
      },
      { kind: 'open', path: world.resolve(scratch).real },
    ],
  }
}
