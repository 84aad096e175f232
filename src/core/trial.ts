import type { AgentEnding, AgentFailure } from './event.ts'
import type { Verdict } from './verdict.ts'

/** One attempt of one agent at one case, as stored, reported and printed by `--json`. */
export interface TrialRecord {
  readonly id: string
  readonly case: string
  /** File of the case, relative to the project when it is inside it. */
  readonly file: string
  readonly agent: string
  readonly model: string
  /** Changes when the scenario, its template or its graders change. Absent in records of older versions. */
  readonly caseHash?: string
  /** Repetition, from 1. */
  readonly attempt: number
  readonly verdict: Verdict
  /** Of an `invalid` trial whose case is not broken: the model never did what it was to try. The run is `partial`, not `invalid`. */
  readonly untried?: true
  /** What the agent was asked to do. Absent in records of older versions. */
  readonly prompt?: string
  /** One actionable sentence; for `pass` what was proven. */
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
  /** The agent's usage per model. Absent when nothing was reported. */
  readonly usage?: readonly ModelUsage[]
  readonly durationMs: number
  readonly ending: AgentEnding
  readonly agentExitCode: number | null
  /** Why the agent could not work, if that made the trial `infra`. */
  readonly failure?: AgentFailure
  /** Why the judge gave no answer, if that made the trial `infra`. */
  readonly judgeError?: string
  /** Absolute path of the trial's directory. */
  readonly dir: string
  readonly tags: readonly string[]
  /** How many `infra` tries came before this record. */
  readonly infraRetries: number
  /** For a record from the cache: the run that made it. */
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
  /** Details such as exit code, end of the output, paths. Always redacted. */
  readonly detail: Readonly<Record<string, unknown>>
  /** The gate's line in the file of the case. */
  readonly line?: number
}

/** Usage of one model in a trial. */
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
  /** The thinking part of `output`. Absent when not reported. */
  readonly thinking?: number
}

/** How efficiently the target tool was used. Names as in `metrics.json`. */
export interface InteractionMetrics {
  readonly total_commands: number
  readonly unique_commands: number
  readonly error_count: number
  /** null: no exit code is known. */
  readonly error_rate: number | null
  readonly retry_count: number
  readonly retry_rate: number
  readonly help_invocations: number
  /** null: no exit code of a first attempt is known. */
  readonly first_try_success_rate: number | null
  readonly iteration_ratio: number
  /** The agent exited by itself with code 0. */
  readonly completed: boolean
  /**
   * `shim`: every call was recorded. `events`: read from the commands that the agent reported. `transcript`: guessed from text.
   * `none`: nothing was observed.
   */
  readonly source: 'shim' | 'events' | 'transcript' | 'none'
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
  /** What the scores rest on. Only quotes that are in the evidence. Absent when there are none. */
  readonly quotes?: readonly JudgeQuote[]
  readonly samples: readonly JudgeSample[]
  /** How much the samples agree, 0..1; null with a single sample. */
  readonly agreement: number | null
  readonly costUsd: number | null
}

export interface JudgeQuote {
  readonly criterion: string
  readonly text: string
  /** The changed file it is from; absent: from the transcript, the last message, the checks or the task. */
  readonly file?: string
}

export type JudgeSample =
  | ({ readonly kind: 'scored' } & Pick<
      JudgeResult,
      'weighted_score' | 'scores' | 'confidence' | 'issues' | 'highlights' | 'quotes'
    >)
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
