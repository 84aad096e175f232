import type { ToolCall } from '../core/hook-event.ts'
import type { World } from './contract.ts'

/** What a tool call would change, as far as it can be told before it happens. */
export interface CallTargets {
  /** Files it would make, change, replace or remove. Absolute; links are not resolved yet. */
  readonly writes: readonly WriteTarget[]
  /** Programs it would run, each with its words as far as they are known; null stands for one that is not. */
  readonly runs: readonly (readonly (string | null)[])[]
  /** What cannot be judged: a rule refuses it when its text names something protected. */
  readonly opaque: readonly OpaquePart[]
}

export interface WriteTarget {
  readonly path: string
  /** As a person would say it: `redirects to it`, `sed -i`, `moves it away`. */
  readonly how: string
}

export interface OpaquePart {
  readonly text: string
  readonly why: string
}

/** The same for every tool: file tools, patches, shells, MCP tools. */
export function callTargets(_call: ToolCall, _cwd: string, _world: World): CallTargets {
  return { writes: [], runs: [], opaque: [] }
}
