import type { PluginFinding } from '../analyze/contract.ts'
import type { HookFindingCode, LabFinding } from './finding-log.ts'

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

/** How a handler ended: as a process, or as an answer over HTTP. */
export type HandlerEnding =
  | { readonly kind: 'exited'; readonly exitCode: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'timed_out'; readonly limitMs: number }
  | {
      readonly kind: 'not_started'
      readonly problem: 'missing' | 'not_executable' | 'other'
      readonly message: string
    }
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'unreachable'; readonly message: string }

/** What a handler did with one event. */
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

/**
 * One event sent to one handler; a row of the report. Paths of the lab are written as `<workspace>`, `<home>`, `<plugin>`,
 * `<tmp>`.
 */
export interface HookTrial {
  readonly label: string
  readonly intent: EventIntent
  /** false: the matcher or the handler's `if` excludes this event, and nothing was started. */
  readonly fires: boolean
  readonly decision: HookDecision
  readonly text: string | null
  readonly change?: unknown
  readonly exit_code: number | null
  readonly ending: HandlerEnding['kind'] | 'not_run'
  readonly duration_ms: number
  readonly stdout: string
  readonly stderr: string
  readonly findings: readonly HookFindingCode[]
  readonly payload: Readonly<Record<string, unknown>>
}

export interface HandlerReport {
  /** Index in its group, from 0. */
  readonly index: number
  readonly type: string
  readonly action: string
  /** Why it could not be tried offline; null when it was. */
  readonly not_testable: string | null
  readonly trials: readonly HookTrial[]
}

/** One matcher group, named as in the analysis. */
export interface HookGroupReport {
  readonly component: string
  readonly event: string
  readonly matcher: string | null
  readonly handlers: readonly HandlerReport[]
  /** Refused attacks, of those tried. */
  readonly attacks: { readonly tried: number; readonly refused: number }
  /** Accepted everyday events, of those tried. */
  readonly benign: { readonly tried: number; readonly passed: number }
}

/** The result of one of the author's examples. */
export interface HookExampleResult {
  /** Relative to the plugin, with the number of the example if a file has several. */
  readonly source: string
  readonly event: string
  readonly expected: string
  readonly passed: boolean
  readonly decision: HookDecision
  readonly text: string | null
  readonly message: string
  /** Handlers that fired, as `component[index]`. */
  readonly fired: readonly string[]
}

/** The result of trying all hooks of a plugin offline. Deterministic except for durations. */
export interface HookLabReport {
  readonly schema_version: 1
  readonly plugin_name: string
  /** By the name of their component. */
  readonly groups: readonly HookGroupReport[]
  readonly examples: readonly HookExampleResult[]
  readonly findings: readonly PluginFinding[]
  readonly summary: {
    readonly groups: number
    readonly handlers: number
    readonly tried_handlers: number
    readonly events: number
    readonly examples_passed: number
    readonly examples_failed: number
    readonly errors: number
    readonly warnings: number
  }
}
