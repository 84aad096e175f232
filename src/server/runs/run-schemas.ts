import { z } from 'zod'
import { comparisonSchema } from '../../core/comparison.ts'
import type { GantryEvent } from '../../core/event.ts'
import type { Regrade } from '../../core/regrade.ts'
import type { CaseCell } from '../../core/select-trials.ts'
import { trialFilters, trialOrders } from '../../core/select-trials.ts'
import type { AgentRate, RunSummary } from '../../core/summary.ts'
import type { TrialRecord } from '../../core/trial.ts'
import { verdicts } from '../../core/verdict.ts'
import { labelSchema } from '../../judge/labels.ts'
import type { ReportSection } from '../../report/contract.ts'
import type { JudgeCalibration } from '../../scenario/label-trials.ts'
import { type Manifest, type RunRow, runFlags, runKinds, type TrialRow } from '../../store/contract.ts'
import { named, shared } from '../api-schemas.ts'
import { guardMoment, guardSessionRow } from '../guard/guard-routes.ts'

/** Formats of files in a run directory and of the reports. Their types are those of the source. */
const manifest = shared<Manifest>('Manifest', 'src/store/contract.ts', 'manifest.json of a run.')
const summary = shared<RunSummary>('RunSummary', 'src/core/summary.ts', 'summary.json of a run.')
const record = shared<TrialRecord>('TrialRecord', 'src/core/trial.ts', 'result.json of a trial.')
const event = shared<GantryEvent>('GantryEvent', 'src/core/event.ts', 'A line of events.jsonl.')
const section = shared<ReportSection>('ReportSection', 'src/report/contract.ts', 'A table of one face.')
const runRow = shared<RunRow>('RunRow', 'src/store/contract.ts', 'A run in a list.')
const trialRow = shared<TrialRow>('TrialRow', 'src/store/contract.ts', 'A trial in a list.')
const caseCell = shared<CaseCell>('CaseCell', 'src/core/select-trials.ts', 'One case of one agent and model.')
const agentRate = shared<AgentRate>('AgentRate', 'src/core/summary.ts', 'Pass rate of one agent and model.')
const regrade = shared<Regrade>('Regrade', 'src/core/regrade.ts', 'What changed when a run was graded again.')

const begun = z
  .object({
    ...{ trial_id: z.string(), case: z.string(), agent: z.string(), model: z.string(), attempt: z.int() },
    is_over: z.boolean().meta({ description: 'The agent has ended.' }),
  })
  .meta({ description: 'A trial without a verdict.' })
const names = z.array(z.string())

export const runQuery = {
  kind: z.enum(runKinds as readonly [string, ...string[]]).optional(),
  status: z.string().max(20).optional(),
  agent: z.string().max(200).optional(),
  model: z.string().max(200).optional(),
  tag: z.string().max(200).optional(),
  case: z.string().max(500).optional(),
  text: z.string().max(500).optional().meta({ description: 'In the id or the title.' }),
  since: z.iso.datetime().optional(),
  until: z.iso.datetime().optional(),
}

export const runListSchema = named(
  'RunList',
  z.object({
    runs: z.array(runRow),
    total: z.int(),
    names: z.object({ agents: names, models: names, tags: names }).meta({ description: 'To filter by.' }),
  }),
)

export const runSchema = named(
  'Run',
  z.object({
    row: runRow,
    manifest: manifest.nullable(),
    problem: z.string().nullable().meta({ description: 'Why parts of it cannot be read.' }),
    summary: summary.nullable().meta({ description: 'null while it is running.' }),
    sentence: z.string().meta({ description: 'The result in one sentence.' }),
    planned: z.int(),
    begun: z.array(begun).meta({ description: 'Of a live run.' }),
    tokens: z.object({ input: z.int(), output: z.int() }).nullable(),
    position: z.int().meta({ description: 'Where its log of trials ends now: streams begin there.' }),
    rates: z.array(agentRate),
    cells: z.array(caseCell).meta({ description: 'The trials so far, by case and agent.' }),
    comparisons: z.array(comparisonSchema),
    regrade: regrade.nullable(),
    sections: z.array(section),
    command: z.string().meta({ description: 'The command that makes such a run again.' }),
    files: z
      .array(z.object({ path: z.string(), bytes: z.int() }))
      .meta({ description: 'Its logs and reports.' }),
  }),
)

export const trialQuery = {
  only: z.enum(trialFilters).optional(),
  verdict: z.enum(verdicts as readonly [string, ...string[]]).optional(),
  case: z.string().max(500).optional(),
  agent: z.string().max(200).optional(),
  model: z.string().max(200).optional(),
  tag: z.string().max(200).optional(),
  text: z.string().max(500).optional(),
  sort: z.enum(trialOrders).optional(),
  descending: z.enum(['true', 'false']).optional(),
}

export const trialListSchema = named('TrialList', z.object({ trials: z.array(trialRow), total: z.int() }))

const place = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('event'), at: z.int(), text: z.string() }),
  z.object({ kind: z.literal('file'), path: z.string(), line: z.int().nullable() }),
  z.object({ kind: z.literal('scenario'), line: z.int() }),
])

export const trialSchema = named(
  'Trial',
  z.object({
    run: runRow,
    trial_id: z.string(),
    record: record.nullable().meta({ description: 'null until it has ended.' }),
    begun: begun.nullable(),
    prompt: z.string().nullable(),
    problem: z.string().nullable(),
    dir: z.string(),
    files: z.array(z.object({ path: z.string(), bytes: z.int() })),
    changes: z.array(z.object({ path: z.string(), added: z.int(), removed: z.int(), lines: z.int() })),
    more_changes: z.int().nullable().meta({
      description: 'Changed files that the diff has no room for; null when it is too large to be read.',
    }),
    log_bytes: z.int(),
    scenario: z.object({ file: z.string(), text: z.string() }).nullable(),
    environment: z.record(z.string(), z.unknown()).nullable(),
    neighbours: z.object({ previous: z.string().nullable(), next: z.string().nullable() }),
    label: z.object({ label: z.enum(['pass', 'fail']), note: z.string().nullable() }).nullable(),
    command: z.string(),
  }),
)

export const evidenceSchema = named(
  'Evidence',
  z.object({
    gates: z.array(z.array(place)).meta({ description: 'In the order of the gates.' }),
    model_calls: z
      .array(z.object({ at: z.int(), event }))
      .meta({ description: 'Events model_call, the first 5,000.' }),
    guard: z
      .array(
        z.object({
          row: guardSessionRow,
          moments: z.array(guardMoment.extend({ event_at: z.int().nullable() })),
        }),
      )
      .meta({ description: 'What the guard of a guarded arm did, with the place in the log.' }),
  }),
)

export const eventPageSchema = named(
  'EventPage',
  z.object({
    events: z.array(
      z.object({
        at: z.int().meta({ description: 'Where its line begins.' }),
        bytes: z.int(),
        event: event.nullable().meta({ description: 'null for a line that is not JSON or far too long.' }),
        head: z.string().nullable().meta({ description: 'The beginning of such a line.' }),
        cut: z.boolean().meta({ description: 'Long texts in it were cut; whole=true gives all.' }),
      }),
    ),
    next: z.int(),
    bytes: z.int().meta({ description: 'Size of the log.' }),
  }),
)

export const searchSchema = named(
  'SearchResult',
  z.object({
    hits: z.array(z.object({ at: z.int(), excerpt: z.string() })),
    next: z.int().nullable().meta({ description: 'Where the search goes on; null at the end.' }),
  }),
)

export const runSearchSchema = named(
  'RunSearch',
  z.object({
    hits: z.array(
      z.object({
        trial: z.string(),
        at: z.int(),
        excerpt: z.string(),
        more: z.boolean().meta({ description: 'The last of this trial that is listed, but it has more.' }),
      }),
    ),
    next: z
      .string()
      .nullable()
      .meta({ description: 'Send it as `after`: there the search goes on; null at the end.' }),
    searched: z.int().meta({ description: 'Trials up to there.' }),
    trials: z.int(),
  }),
)

export const flagsBody = named(
  'RunFlags',
  z.strictObject({
    pinned: z.boolean().optional(),
    blessed: z.boolean().optional(),
    reason: z.string().max(500).optional(),
  }),
)
export const flagsSchema = z.object({ flags: z.array(z.enum(runFlags as readonly [string, ...string[]])) })

export const removedSchema = named('RemovedRun', z.object({ outcome: z.enum(['removed', 'live', 'gone']) }))

export const retentionSchema = named(
  'Retention',
  z.object({
    max_age_ms: z.number().nullable(),
    max_runs: z.int().nullable(),
    next: z.array(z.object({ id: z.string(), reason: z.enum(['age', 'count']) })),
    kept: z.record(z.string(), z.string()).meta({ description: 'Why a run stays, by its id.' }),
  }),
)

export const trendSchema = named(
  'Trend',
  z.object({
    cases: names,
    points: z.array(
      z.object({
        run: z.string(),
        at: z.string(),
        commit: z.string(),
        title: z.string(),
        agent: z.string(),
        model: z.string(),
        versions: z.record(z.string(), z.string()),
        trials: z.int(),
        passes: z.int(),
        low: z.number().nullable(),
        high: z.number().nullable(),
        cost_usd: z.number().nullable(),
        duration_ms: z.number(),
        flaky: z.int().meta({ description: 'Cases that passed and failed.' }),
        cases: z.int(),
      }),
    ),
  }),
)

named('Comparison', comparisonSchema)
export const comparisonListSchema = named(
  'ComparisonList',
  z.object({
    comparisons: z.array(comparisonSchema),
    sides: z
      .array(z.object({ name: z.string(), run: runRow, agents: names, models: names }))
      .meta({ description: 'What was compared, and what else its runs could be compared by.' }),
  }),
)

named('Label', labelSchema)
export const labelBody = named(
  'NewLabel',
  z.strictObject({ label: z.enum(['pass', 'fail']), note: z.string().max(4_000).optional() }),
)
const calibration = shared<JudgeCalibration>(
  'JudgeCalibration',
  'src/scenario/label-trials.ts',
  'A judge against the labels, as "gantry judge calibrate --json" prints it.',
)
export const labelListSchema = named(
  'LabelList',
  z.object({
    file: z.string().nullable().meta({ description: 'null: there is no project to keep labels in.' }),
    labels: z.array(labelSchema),
  }),
)
export const calibrationSchema = named(
  'Calibration',
  z.object({
    judges: z.array(calibration),
    trust: z.array(z.string()).meta({ description: 'How far each of them can be trusted, in words.' }),
  }),
)
