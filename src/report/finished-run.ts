import { join } from 'node:path'
import type { Comparison } from '../core/comparison.ts'
import { counted } from '../core/counted.ts'
import { createSummary, type SummaryOptions } from '../core/create-summary.ts'
import { formatDuration } from '../core/duration.ts'
import type { GantryEvent } from '../core/event.ts'
import { asStrings } from '../core/json-fields.ts'
import type { Regrade } from '../core/regrade.ts'
import type { RunSummary } from '../core/summary.ts'
import type { TrialRecord } from '../core/trial.ts'
import { readJsonIfExists, writeJsonAtomic } from '../io/files.ts'
import { readJsonl } from '../io/jsonl.ts'
import { readShortText } from '../io/read-short-text.ts'
import type { Manifest, RunRow, StoredRun } from '../store/contract.ts'
import { comparisonSections } from './comparison-sections.ts'
import { columnsOf, type FinishedRun, type RunHeader, type TrialHeader, tableSection } from './contract.ts'
import { trialName } from './trial-sentences.ts'

export interface StoredRunFacts {
  /** The row of the run in a list: whether it has ended, and how long it took. */
  readonly row: RunRow
  /** Summary options of the run; needed when it was killed before it wrote its summary. */
  readonly judging?: SummaryOptions
  readonly concurrency?: number
  /** Redacts personal data in output for people. */
  readonly forPeople: (value: unknown) => unknown
  readonly diagnose: (trial: TrialRecord) => readonly string[]
}

export function runHeader(
  run: StoredRun,
  facts: Omit<RunHeader, 'runId' | 'runDir' | 'startedAt'>,
): RunHeader {
  return { runId: run.id, runDir: run.dir, startedAt: run.manifest().timestamp_start, ...facts }
}

/** A stored run for reporters, ended or not. A summary older than the run's last trials is not used. */
export async function finishedRun(run: StoredRun, facts: StoredRunFacts): Promise<FinishedRun> {
  const { row, forPeople, diagnose } = facts
  const manifest = run.manifest()
  const planned = run.plan()?.trials ?? []
  const finished = new Set<string>()
  for await (const { id } of run.trials()) finished.add(id)
  const isDecided = manifest.details.decided === true
  const open = isDecided ? [] : planned.filter(({ id }) => !finished.has(id))
  const headers = open.filter(isHeader)
  const summary =
    (manifest.status === 'running' ? null : run.summary()) ?? (await folded(run, facts, open.length))
  const startedAt = manifest.timestamp_start
  return {
    runId: run.id,
    runDir: run.dir,
    title: String(forPeople(manifest.title)),
    trials: finished.size + open.length,
    concurrency: facts.concurrency ?? 1,
    startedAt,
    endedAt: row.endedAt ?? new Date(Date.parse(startedAt) + summary.durationMs).toISOString(),
    summary,
    version: manifest.versions.gantry,
    records: () => recordsForPeople(run, forPeople),
    events: (trial) => eventsForPeople(trial, forPeople),
    workspaceDiff: (trial) => diffForPeople(trial, forPeople),
    diagnose,
    interrupted: row.status === 'interrupted',
    ...(headers.length === summary.notRun && { notRun: headers }),
    notRunWhy: asStrings(manifest.details.not_run) ?? [],
    ...storedRegrade(run, storedComparisons(run)),
    ...(finished.size + open.length === 0 && withoutTrials(manifest, summary)),
    ...(row.live && { nextSteps: ['The run is still in progress. Only finished trials are shown'] }),
  }
}

/** In the directory of a run that graded the work of another one again. */
export const regradeFile = 'regrade.json'

function storedRegrade(
  { dir }: StoredRun,
  compared: ReturnType<typeof storedComparisons>,
): Partial<FinishedRun> {
  const regrade = readJsonIfExists(join(dir, regradeFile)) as Regrade | null | undefined
  if (regrade == null) return compared
  const { run_id, trials, changed, left_out } = regrade
  const sentence = `${counted(trials, 'trial')} of ${run_id} graded again: ${counted(changed.length, 'verdict')} changed.`
  return {
    ...compared,
    regrade,
    nextSteps: [],
    notRunWhy: [...new Set(left_out.map(({ reason }) => reason))],
    sections: [
      {
        title: 'Graded again',
        lead: sentence,
        columns: columnsOf('trial', 'was', 'is', 'why'),
        rows: changed.map((row) => [trialName(row), row.was, row.is, row.reason]),
      },
      ...tableSection(
        'Not graded again',
        ['trial', 'why'],
        left_out.map((row) => [trialName(row), row.reason]),
      ),
      ...(compared.sections ?? []),
    ],
  }
}

const comparisonsFile = 'comparisons.json'

/** Kept with the run, so that its reports have them later. */
export function storeComparisons({ dir }: Pick<StoredRun, 'dir'>, comparisons: readonly Comparison[]): void {
  writeJsonAtomic(join(dir, comparisonsFile), comparisons)
}

function storedComparisons({ dir }: StoredRun): Pick<FinishedRun, 'comparisons' | 'sections'> {
  const stored = readJsonIfExists(join(dir, comparisonsFile))
  return Array.isArray(stored) ? withComparisons(stored as readonly Comparison[]) : {}
}

export function withComparisons(
  comparisons: readonly Comparison[],
): Pick<FinishedRun, 'comparisons' | 'sections'> {
  return comparisons.length === 0 ? {} : { comparisons, sections: comparisons.flatMap(comparisonSections) }
}

async function folded(run: StoredRun, { row, judging }: StoredRunFacts, notRun: number): Promise<RunSummary> {
  const fold = createSummary(judging)
  for await (const record of run.trials()) fold.add(record)
  return fold.finish({ durationMs: row.totals?.duration_ms ?? 0, notRun })
}

/** A verification, a task or a plan has commands instead of trials, and its own status. */
function withoutTrials(
  { kind, status, commands_executed: commands }: Manifest,
  summary: RunSummary,
): Partial<FinishedRun> {
  if (kind === 'scenario' || kind === 'plugin' || status === 'running' || status === 'interrupted') return {}
  const passed = commands.filter(({ exit_code }) => exit_code === 0).length
  return {
    summary: { ...summary, verdict: status },
    sentence: `${passed} of ${counted(commands.length, 'command')} succeeded.`,
    showCases: false,
    nextSteps: [],
    sections: [
      {
        title: 'Commands',
        columns: columnsOf('name', 'command', '>exit', '>time'),
        rows: commands.map(({ name, command, exit_code, duration_ms }) => [
          name,
          command,
          String(exit_code ?? '-'),
          formatDuration(duration_ms),
        ]),
      },
    ],
  }
}

function isHeader(trial: { readonly id: string }): trial is TrialHeader {
  const { case: name, agent, model, attempt } = trial as Partial<TrialHeader>
  return [name, agent, model].every((text) => typeof text === 'string') && typeof attempt === 'number'
}

const maxDiffBytes = 4 * 1024 * 1024

async function* recordsForPeople(run: StoredRun, forPeople: (value: unknown) => unknown) {
  for await (const record of run.trials()) yield recordForPeople(record, forPeople)
}

/** Redaction only changes texts. Names given by the author or by Gantry are not secrets and stay unchanged. */
export function recordForPeople(record: TrialRecord, forPeople: (value: unknown) => unknown): TrialRecord {
  const { id, case: name, file, agent, model, dir } = record
  return { ...(forPeople(record) as TrialRecord), id, case: name, file, agent, model, dir }
}

/** What the agent changed, for sharing: `forPeople` hides personal data. */
export function diffForPeople({ dir }: TrialRecord, forPeople: (value: unknown) => unknown): string | null {
  const text = readShortText(join(dir, 'workspace.diff'), maxDiffBytes)
  return text === null ? null : String(forPeople(text))
}

/** A trial's events for sharing: `forPeople` hides personal data. */
export async function* eventsForPeople(
  { dir }: TrialRecord,
  forPeople: (value: unknown) => unknown,
): AsyncGenerator<GantryEvent> {
  // Redaction changes texts, not the structure.
  for await (const event of readJsonl<GantryEvent>(join(dir, 'events.jsonl')))
    yield forPeople(event) as GantryEvent
}
