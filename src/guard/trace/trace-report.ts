import type { EvidenceKind } from '../../core/evidence.ts'
import type { TimelineFigure } from './timeline.ts'

/** The figures of a log. Plain JSON, printed by `gantry guard trace --json`. */
export interface TraceReport {
  readonly source: TraceSource
  readonly total: number
  readonly results: Readonly<Record<'success' | 'failure' | 'denied' | 'unknown', number>>
  readonly tools: readonly ToolFigure[]
  readonly hot_files: readonly HotFile[]
  readonly loops: LoopFigures
  readonly verification: readonly VerificationFigure[]
  readonly failures: readonly { readonly call: string; readonly count: number }[]
  readonly time: TimeFigures
  readonly refusals: readonly RefusalFigure[]
  readonly suggestions: readonly string[]
  readonly timeline: TimelineFigure
}

export interface TraceSource {
  readonly files: readonly string[]
  readonly kind: 'trace' | 'ledger'
  /** Invalid lines. */
  readonly broken_lines: number
  /** Records before `--since`. */
  readonly left_out: number
  /** Names that were dropped because there were too many. Their counts are only in the totals. */
  readonly summed_up: number
}

export interface ToolFigure {
  readonly tool: string
  readonly calls: number
  readonly share: number
  readonly failures: number
  readonly denials: number
  /** Of the calls with a known duration; null when there are none. */
  readonly duration_ms: number | null
}

export interface HotFile {
  readonly path: string
  readonly edits: number
  /** Most edits without green tests in between. */
  readonly most_before_green: number
  /** At or above the threshold. */
  readonly potential_loop: boolean
}

export interface LoopFigures {
  readonly edit_threshold: number
  readonly files: number
  readonly repeats: readonly RepeatFigure[]
  /** Edits per file until tests were green, over all files and rounds. */
  readonly edits_until_green: {
    readonly rounds: number
    readonly median: number | null
    readonly p95: number | null
  }
  /** A threshold above nearly all work that ended green; null when there is too little data. */
  readonly suggested_threshold: number | null
}

/** Calls that repeated with the same result, three times or more. */
export interface RepeatFigure {
  readonly calls: readonly string[]
  readonly times: number
}

export interface VerificationFigure {
  readonly command: string
  readonly kind: EvidenceKind
  readonly runs: number
  readonly passed: number
  readonly failed: number
}

export interface TimeFigures {
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly span_ms: number
  /** Longest pause between two calls. */
  readonly longest_pause_ms: number
}

export interface RefusalFigure {
  readonly rule: string
  readonly denied: number
  readonly refused: number
}
