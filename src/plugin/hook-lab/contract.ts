import type { LabFinding } from './finding-log.ts'

/**
 * The hook lab starts the hooks of a plugin with simulated events, without Claude Code and without a model, and reports
 * how Claude Code would treat each answer.
 */

/** How Claude Code treats the answer of a hook. `none`: the hook has no opinion, or its answer has no effect. */
export type HookDecision = 'allow' | 'deny' | 'ask' | 'block' | 'context' | 'modify' | 'none'

/** Whether a simulated event is everyday work or something a guard should refuse. */
export type EventIntent = 'benign' | 'attack' | 'invented'

/** A simulated event, with the payload that Claude Code would pass to a hook. */
export interface SimulatedEvent {
  /** Unique within its event: `Write a note`, `Bash force push`, `source compact`. */
  readonly label: string
  readonly intent: EventIntent
  readonly event: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** How the process of a handler ended. */
export type HandlerEnding =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'timed_out'; readonly limitMs: number }
  | {
      readonly kind: 'not_started'
      readonly problem: 'missing' | 'not_executable' | 'other'
      readonly message: string
    }

export interface HandlerRun {
  readonly ending: HandlerEnding
  /** Complete, or its head and tail. */
  readonly stdout: string
  readonly stdoutBytes: number
  readonly stderr: string
  readonly durationMs: number
  /** Processes that outlived it and were killed. */
  readonly leftBehind: number
}

/** How Claude Code would treat a run. */
export interface HookEffect {
  readonly decision: HookDecision
  /** The reason given by the hook; for `context` the context. */
  readonly text: string | null
  /** For `modify`: the changed input or output of the tool. */
  readonly change?: unknown
  readonly noticed: readonly LabFinding[]
}
