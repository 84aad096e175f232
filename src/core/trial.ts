import type { AgentEnding, AgentFailure } from './event.ts'
import type { Verdict } from './verdict.ts'

/** One agent's one attempt at one case, as it is stored, reported and printed by `--json`. */
export interface TrialRecord {
  readonly id: string
  readonly case: string
  /** Where the case was read from, relative to the project when it is inside it. */
  readonly file: string
  readonly agent: string
  readonly model: string
  /** Repetition, from 1. */
  readonly attempt: number
  readonly verdict: Verdict
  /** One sentence a person can act on; for `pass` what was proven. */
  readonly reason: string
  readonly gates: readonly GateResult[]
  readonly metrics: InteractionMetrics
  readonly judge: JudgeResult | null
  readonly evaluators: readonly EvaluatorResult[]
  /** Composite 0..1; null when the case configures none. */
  readonly score: number | null
  readonly tier: ScoreTier | null
  /** null = unmetered: unknown, which is not zero. */
  readonly costUsd: number | null
  readonly tokens: TokenUsage | null
  /** The agent's part of the bill, per model. Absent when nothing was reported. */
  readonly usage?: readonly ModelUsage[]
  readonly durationMs: number
  readonly ending: AgentEnding
  readonly agentExitCode: number | null
  /** Why the agent could not work, when that is what made the trial `infra`. */
  readonly failure?: AgentFailure
  /** Why the judge gave no answer, when that is what made the trial `infra`. */
  readonly judgeError?: string
  /** Absolute path of the trial's directory. */
  readonly dir: string
  readonly tags: readonly string[]
  /** How many `infra` tries came before this record. */
  readonly infraRetries: number
  /** Set when the record was taken from the cache: the run that really made it. */
  readonly cachedFrom: string | null
  readonly cacheKey: string | null
  readonly startedAt: string
  readonly warnings: readonly string[]
}

export interface GateResult {
  /** snake_case name of the gate. */
  readonly type: string
  readonly passed: boolean
  readonly message: string
  /** What was looked at and found: exit code, tail of the output, paths. Always redacted. */
  readonly detail: Readonly<Record<string, unknown>>
}

/** What one model took part in a trial with. */
export interface ModelUsage {
  readonly model: string
  readonly tokens: TokenUsage
  /** null = no known price. */
  readonly costUsd: number | null
}

export interface TokenUsage {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
  /** The part of `output` the model only thought. Absent when it was not reported. */
  readonly thinking?: number
}

/** How efficiently the target tool was used. Names as users know them from `metrics.json`. */
export interface InteractionMetrics {
  readonly total_commands: number
  readonly unique_commands: number
  readonly error_count: number
  readonly error_rate: number
  readonly retry_count: number
  readonly retry_rate: number
  readonly help_invocations: number
  readonly first_try_success_rate: number
  readonly iteration_ratio: number
  /** The agent exited by itself with code 0. */
  readonly completed: boolean
  /** `events` are exact; `transcript` is guessed from text; `none` means nothing could be seen. */
  readonly source: 'events' | 'transcript' | 'none'
  /** Per subcommand, when `command_pattern` has a group. */
  readonly subcommands: Readonly<Record<string, SubcommandMetrics>>
}

export interface SubcommandMetrics {
  readonly total: number
  readonly unique: number
  readonly errors: number
  readonly retries: number
  readonly help: number
}

export interface EvaluatorResult {
  readonly name: string
  readonly metrics?: Readonly<Record<string, unknown>>
  readonly score?: number
  readonly summary?: string
  readonly error?: string
}

export interface JudgeResult {
  readonly model: string
  readonly passed: boolean
  readonly threshold: number
  /** Aggregate of the samples' weighted scores, 0..1. */
  readonly weighted_score: number
  /** Aggregate per criterion. */
  readonly scores: Readonly<Record<string, number>>
  readonly confidence: number
  readonly issues: readonly string[]
  readonly highlights: readonly string[]
  readonly samples: readonly JudgeSample[]
  /** How far the samples agree, 0..1; null with a single sample. */
  readonly agreement: number | null
  readonly costUsd: number | null
}

export type JudgeSample =
  | {
      readonly kind: 'scored'
      readonly weighted_score: number
      readonly scores: Readonly<Record<string, number>>
      readonly confidence: number
      readonly issues: readonly string[]
      readonly highlights: readonly string[]
    }
  | { readonly kind: 'error'; readonly message: string }

export type ScoreTier = 'Excellent' | 'Good' | 'Acceptable' | 'Poor'

export const noTokens: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }

export function addTokens(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    ...((a.thinking !== undefined || b.thinking !== undefined) && {
      thinking: (a.thinking ?? 0) + (b.thinking ?? 0),
    }),
  }
}
