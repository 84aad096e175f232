import type { Comparison } from '../core/comparison.ts'
import type { GantryEvent } from '../core/event.ts'
import type { Regrade } from '../core/regrade.ts'
import type { RunSummary } from '../core/summary.ts'
import type { TrialRecord } from '../core/trial.ts'
import type { Clock } from '../io/clock.ts'

/**
 * A reporter turns a run into a report for people or machines. All hooks are optional: a live reporter uses all of them, a document
 * reporter only `runEnded`. Records arrive one at a time and the caller does not keep them, because a run may have thousands.
 */
export interface Reporter {
  runStarted?(run: RunHeader): void
  trialStarted?(trial: TrialHeader): void
  trialEnded?(trial: TrialRecord): void
  /** A message during the run: a warning, a retry, a pause. */
  note?(note: { readonly level: 'info' | 'warning'; readonly message: string }): void
  runEnded?(run: FinishedRun): Promise<void> | void
}

export type ReporterFactory = (context: ReporterContext) => Reporter

export interface ReporterContext {
  /** The output of a reporter: a terminal, a pipe, or a file written atomically when `close` is called. */
  readonly sink: Sink
  readonly color: boolean
  /** Columns of the terminal; 80 for other sinks. */
  readonly columns: number
  /** Whether a live view is allowed: the sink is a terminal and plain lines were not requested. */
  readonly live: boolean
  /** The current size of the terminal, read at every redraw so that resizing works. Default: `columns` by 24. */
  readonly size?: () => { readonly columns: number; readonly rows: number }
  /** Whether only ASCII can be shown: `TERM=dumb`, or a locale that is not UTF-8. */
  readonly ascii?: boolean
  /** Clock for elapsed and remaining time. Default: the system's. */
  readonly clock?: Clock
  /** Absolute path of the report when it is a file: links in it become relative. */
  readonly path?: string
  /** Path from the root of the repository to a case's file, which is relative to the project. */
  readonly repositoryPath?: (file: string) => string
  /** The second sink of a reporter that has two: `github` writes annotations to `sink` and its summary here. */
  readonly summarySink?: Sink
}

export interface Sink {
  write(text: string): void
  /** Resolves when the reader has caught up. Await it between parts of a long document, so that memory does not grow. */
  drain?(): Promise<void>
}

export interface RunHeader {
  readonly runId: string
  readonly runDir: string
  readonly title: string
  readonly trials: number
  /** Not all of them may be needed. */
  readonly mayEndEarly?: boolean
  readonly concurrency: number
  readonly startedAt: string
  /** What the console prints during the run: header and trials (default), trials only, or only the end. */
  readonly consoleDetail?: 'everything' | 'trials' | 'end'
}

export type TrialHeader = Pick<TrialRecord, 'id' | 'case' | 'agent' | 'model' | 'attempt'>

export interface FinishedRun extends RunHeader {
  readonly endedAt: string
  readonly summary: RunSummary
  readonly version: string
  /** Every trial in plan order, read from disk one at a time; may be iterated more than once. */
  readonly records: () => AsyncIterable<TrialRecord>
  /** The trial's events for a transcript view. */
  readonly events: (trial: TrialRecord) => AsyncIterable<GantryEvent>
  /** What the agent changed in its workspace, as a unified diff; null when nothing or unknown. */
  readonly workspaceDiff?: (trial: TrialRecord) => string | null
  /** Sentences about the likely causes of a trial's metrics. */
  readonly diagnose?: (trial: TrialRecord) => readonly string[]
  /** The run was stopped early; the summary covers the finished trials. */
  readonly interrupted?: boolean
  /** The trials counted in `summary.notRun`, when they are known. */
  readonly notRun?: readonly TrialHeader[]
  /** Why they were not run: one phrase for each reason. */
  readonly notRunWhy?: readonly string[]
  /** Next steps for the reader, as imperative sentences. Default: derived from the summary. */
  readonly nextSteps?: readonly string[]
  /** The run in one sentence, for a run without trials. Default: derived from the summary. */
  readonly sentence?: string
  /** For a run that graded the work of another one again. */
  readonly regrade?: Regrade
  /** With another run, or of its arms with the first of them. */
  readonly comparisons?: readonly Comparison[]
  /** Regressions that fail the run, because the user asked for it. Default 0. */
  readonly failedRegressions?: number
  /** Tables of a face beyond cases and trials; shown by reporters for people. */
  readonly sections?: readonly ReportSection[]
  /** false: the table of cases would only repeat the sections. Default true. */
  readonly showCases?: boolean
}

/** A table of one face, with a title and a sentence or two. All plain text. */
export interface ReportSection {
  readonly title: string
  /** On the terminal, shown before the trials that did not pass. */
  readonly isFirst?: boolean
  /** Text before the rows, or instead of them. */
  readonly lead?: string
  readonly columns: readonly { readonly title: string; readonly align?: 'left' | 'right' }[]
  readonly rows: readonly (readonly string[])[]
}

/** Columns by their titles. One with `>` before it is aligned to the right. */
export function columnsOf(...titles: readonly string[]): ReportSection['columns'] {
  return titles.map((title) =>
    title.startsWith('>') ? { title: title.slice(1), align: 'right' } : { title },
  )
}

/** A table as a section; none without rows. Titles as in `columnsOf`. */
export function tableSection(
  title: string,
  titles: readonly string[],
  rows: ReportSection['rows'],
  lead?: string,
): readonly ReportSection[] {
  if (rows.length === 0) return []
  return [{ title, ...(lead !== undefined && { lead }), columns: columnsOf(...titles), rows }]
}

/** What the file of a shard is named and has: a head, the files of the run, and one section per directory of a trial. */
export const shardBlob = {
  format: 'gantry_blob',
  version: 1,
  ending: '.blob',
  run: 'run',
  trial: 'trial:',
} as const
