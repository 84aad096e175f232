import type { PluginFinding } from '../analyze/contract.ts'

/**
 * The hook lab starts the hooks of a plugin with simulated events, without Claude Code and without a model, and reports
 * how Claude Code would treat each answer.
 */

/** How Claude Code treats the answer of a hook. `none`: the hook has no opinion, or its answer has no effect. */
export const hookDecisions = ['allow', 'deny', 'ask', 'block', 'context', 'modify', 'none'] as const
export type HookDecision = (typeof hookDecisions)[number]

/** Whether a simulated event is everyday work or something a guard should refuse. */
export type EventIntent = 'benign' | 'attack'

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
  /** Whole, or head and tail of it. */
  readonly stdout: string
  readonly stdoutBytes: number
  readonly stderr: string
  readonly durationMs: number
  /** Processes that outlived it and had to be ended. */
  readonly leftBehind: number
}

/** A finding of the lab; its full text is in finding-log.ts. */
export interface Noticed {
  readonly code: HookFindingCode
  /** What was observed; appended to the text of the finding. */
  readonly detail: string
}

/** What Claude Code would make of a run. */
export interface HookEffect {
  readonly decision: HookDecision
  /** The reason given by the hook; for `context` the context. */
  readonly text: string | null
  /** For `modify`: what the tool would be given, or what its output would be replaced by. */
  readonly change?: unknown
  readonly noticed: readonly Noticed[]
}

/** One event put to one handler; a row of the report. Places of the lab are written as `<workspace>`, `<home>`, `<plugin>`, `<tmp>`. */
export interface HookTrial {
  readonly label: string
  readonly intent: EventIntent
  /** false: the matcher, or the handler's `if`, leaves this event out, and nothing was started. */
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
  /** In its group, from 0. */
  readonly index: number
  readonly type: string
  readonly action: string
  /** Why it could not be tried offline; null when it was. */
  readonly not_testable: string | null
  readonly trials: readonly HookTrial[]
}

/** One matcher group, as the analysis names it. */
export interface HookGroupReport {
  readonly component: string
  readonly event: string
  readonly matcher: string | null
  readonly handlers: readonly HandlerReport[]
  /** Attacks it refused, of those it was given. */
  readonly attacks: { readonly tried: number; readonly refused: number }
  /** Everyday events it let pass, of those it was given. */
  readonly benign: { readonly tried: number; readonly passed: number }
}

/** One of the author's own examples, tried. */
export interface HookExampleResult {
  /** Relative to the plugin, with the number of the example where a file has several. */
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

/** All hooks of a plugin tried offline. Apart from durations the same for the same plugin. */
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

export type HookFindingCode =
  | 'HOOK_FAILS_OPEN'
  | 'HOOK_CRASHES'
  | 'HOOK_HANGS'
  | 'HOOK_PROGRAM_MISSING'
  | 'HOOK_NOT_EXECUTABLE'
  | 'HOOK_UNREACHABLE'
  | 'HOOK_BROKEN_JSON'
  | 'HOOK_TEXT_AROUND_JSON'
  | 'HOOK_OUTPUT_INVALID'
  | 'HOOK_OUTPUT_NOT_ALLOWED'
  | 'HOOK_WRONG_EVENT_NAME'
  | 'HOOK_PRECOMPACT_CONTEXT'
  | 'HOOK_PRECOMPACT_STDOUT'
  | 'HOOK_STDOUT_UNUSED'
  | 'HOOK_OUTPUT_TOO_LONG'
  | 'HOOK_CONTINUE_IS_NO_DENY'
  | 'HOOK_EXIT_IGNORED'
  | 'HOOK_ASYNC_CANNOT_DECIDE'
  | 'HOOK_STOP_LOOPS'
  | 'HOOK_WRITES_PLUGIN_ROOT'
  | 'HOOK_LEAVES_PROCESSES'
  | 'HOOK_NEEDS_TTY'
  | 'HOOK_NEVER_DENIES'
  | 'HOOK_DENIES_BENIGN'
  | 'HOOK_MATCHER_UNTRIED'
  | 'HOOK_SESSION_END_SLOW'
  | 'HOOK_EXAMPLE_FAILED'
