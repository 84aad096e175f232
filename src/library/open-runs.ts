import { join } from 'node:path'
import { z } from 'zod'
import { openProjectStore } from '../config/open-project-store.ts'
import type { GantryEvent } from '../core/event.ts'
import type { TrialRecord } from '../core/trial.ts'
import { checkOptions, optionFields } from '../io/check-options.ts'
import { readJsonl } from '../io/read-jsonl.ts'
import type { Reporter } from '../report/contract.ts'
import type { ReporterDefinition } from '../report/define-reporter.ts'
import { openReportersOf, type ReporterProblem } from '../report/open-reporters.ts'
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
  /** What happened in a trial, in order. */
  events(trial: Pick<TrialRecord, 'dir'>): AsyncGenerator<GantryEvent>
}

export type ReadRun = Pick<StoredRun, 'id' | 'dir' | 'manifest' | 'summary' | 'trials'>

export interface ReportOptions {
  /** Names as in `--reporter`, reporters of your own, or functions that listen. */
  readonly reporters: readonly (string | ReporterDefinition | Reporter)[]
}

export interface RunsPlace {
  /** Where gantry.yaml is looked for upward, which may name the store. Default: the working directory. */
  readonly cwd?: string
  /** `AGENT_ARTIFACT_DIR` names the store. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

const reportSchema = z.strictObject({
  reporters: z.array(z.union([z.string(), z.record(z.string(), z.unknown())])),
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
      await reportRun(store, findRun(store, name), reporter, env)
      return reporter.problems()
    },
    events: ({ dir }) => readJsonl<GantryEvent>(join(dir, 'events.jsonl')),
  }
}
