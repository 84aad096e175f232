import { join } from 'node:path'
import { z } from 'zod'
import { openProjectStore } from '../config/open-project-store.ts'
import { projectRedaction } from '../config/project-redaction.ts'
import type { Comparison } from '../core/comparison.ts'
import type { GantryEvent } from '../core/event.ts'
import type { TrialRecord } from '../core/trial.ts'
import { checkOptions, namedOrOwn, optionFields } from '../io/check-options.ts'
import { readJsonl } from '../io/read-jsonl.ts'
import type { Label } from '../judge/labels.ts'
import type { Reporter } from '../report/contract.ts'
import type { ReporterDefinition } from '../report/define-reporter.ts'
import { openReportersOf, type ReporterProblem } from '../report/open-reporters.ts'
import type { GivenLabel, JudgeCalibration } from '../scenario/label-trials.ts'
import type { RunRow, StoredRun } from '../store/contract.ts'
import { findRun } from '../store/find-run.ts'
import { type ListRunsOptions, listRuns } from '../store/list-runs.ts'
import { openRun } from '../store/open-run.ts'

/** The stored runs of a project. Everything is read when it is asked for. */
export interface Runs {
  /** Newest first, and how many there are without the limit. */
  list(options?: ListRunsOptions): Promise<{ readonly runs: readonly RunRow[]; readonly total: number }>
  /** By its id, the beginning of one, `latest` or `blessed`. Throws GantryError NOT_FOUND. */
  open(name: string): ReadRun
  /** Reports a run again, as `gantry runs report` does. Returns the reporters that failed. */
  report(name: string, options: ReportOptions): Promise<readonly ReporterProblem[]>
  /** Whether the second side is better, as `gantry compare` says it. `map`: `OLD=NEW` names of agents. */
  compare(
    a: string,
    b: string,
    options?: { readonly margin?: number; readonly seed?: number; readonly map?: readonly string[] },
  ): Promise<Comparison>
  /** What people say about results, as `gantry label` keeps it: all of it, or nothing when a trial does not exist. */
  label(labels: readonly GivenLabel[]): Promise<readonly Label[]>
  /** How far the judges of these runs (default: all) agree with the labels, as `gantry judge calibrate` says it. */
  calibrate(names?: readonly string[], seed?: number): Promise<readonly JudgeCalibration[]>
  /** What happened in a trial, in order. */
  events(trial: Pick<TrialRecord, 'dir'>): AsyncGenerator<GantryEvent>
}

export type ReadRun = Pick<StoredRun, 'id' | 'dir' | 'manifest' | 'summary' | 'trials'>

export interface RunsPlace {
  /** Where gantry.yaml is looked for upward, which may name the store. Default: the working directory. */
  readonly cwd?: string
  /** `AGENT_ARTIFACT_DIR` names the store. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

const reportSchema = z.strictObject({
  /** Names as in `--reporter`, reporters of your own, or functions that listen. */
  reporters: namedOrOwn<ReporterDefinition | Reporter>(),
})

export type ReportOptions = Readonly<z.output<typeof reportSchema>>

const compareSchema = z.strictObject({
  margin: z.number().gt(0).lt(1).optional(),
  seed: z.int().optional(),
  map: z.array(z.string()).optional(),
})

const givenLabel = z.strictObject({
  run: z.string(),
  trial: z.string(),
  label: z.enum(['pass', 'fail']),
  note: z.string().optional(),
})

const placeSchema = z.strictObject({ cwd: optionFields.cwd, env: optionFields.env })

/** Opens the store for reading. */
export function openRuns(place: RunsPlace = {}): Runs {
  checkOptions('openRuns', placeSchema, place)
  const { cwd = process.cwd(), env = process.env } = place
  const store = openProjectStore({ cwd, env })
  return {
    list: (options) => listRuns(store, options),
    open: (name) => openRun(store, findRun(store, name)),
    async report(name, options) {
      checkOptions('report', reportSchema, options)
      const { reportRun } = await import('./report-run.ts')
      const reporter = await openReportersOf(options.reporters, { env, cwd })
      await reportRun(store, findRun(store, name), reporter, projectRedaction(cwd, env).forPeople)
      return reporter.problems()
    },
    async compare(a, b, options = {}) {
      const { margin = 0.05, seed = 1, map } = checkOptions('compare', compareSchema, options)
      const { compareSides } = await import('../scenario/compare-sides.ts')
      const sides = { margin, seed, cwd, ...(map !== undefined && { map }) }
      return (await compareSides(store, [a, b], sides)).comparisons[0] as Comparison
    },
    async label(labels) {
      checkOptions('label', z.strictObject({ labels: z.array(givenLabel) }), { labels })
      const { storeLabels } = await import('../scenario/label-trials.ts')
      return (await storeLabels(store, labels, cwd)).labels
    },
    async calibrate(names = [], seed = 1) {
      const { calibrateJudges, projectLabels } = await import('../scenario/label-trials.ts')
      return calibrateJudges(store, projectLabels(cwd), names, seed)
    },
    events: ({ dir }) => readJsonl<GantryEvent>(join(dir, 'events.jsonl')),
  }
}
