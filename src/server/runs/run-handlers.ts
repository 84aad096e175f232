import { join, normalize } from 'node:path'
import { agentRates } from '../../core/create-summary.ts'
import { GantryError } from '../../core/error.ts'
import { percentDecoded } from '../../core/percent-decoded.ts'
import { caseCells, selectTrials, type TrialSelection } from '../../core/select-trials.ts'
import { type TrendFilter, trendOf } from '../../core/trend-points.ts'
import { bytesOf } from '../../io/directory.ts'
import type { ListFilesOptions } from '../../io/list-files.ts'
import { readRun } from '../../library/report-run.ts'
import { runSentence } from '../../report/run-sentence.ts'
import { compareSides } from '../../scenario/compare-sides.ts'
import { commandWords } from '../../shell/quote-word.ts'
import { nextRetention } from '../../store/apply-retention.ts'
import {
  defaultRetention,
  type RunFlag,
  type RunRow,
  type Store,
  type TrialRow,
} from '../../store/contract.ts'
import { flagRun } from '../../store/flag-run.ts'
import { listRuns } from '../../store/list-runs.ts'
import { readManifestState } from '../../store/manifest.ts'
import { openRun } from '../../store/open-run.ts'
import { removeRun } from '../../store/remove-run.ts'
import { runFile } from '../../store/run-paths.ts'
import { ok, problem } from '../answer.ts'
import { begunTrials, plannedTrials } from './begun-trials.ts'
import type { RunHandlerOptions, RunHandlers } from './contract.ts'
import { labelHandlers } from './label-handlers.ts'
import { pluginView } from './plugin-view.ts'
import { runTables } from './run-tables.ts'
import { searchRun } from './search-run.ts'
import { fileAnswer, filesOf, trialView } from './trial-view.ts'

export function runHandlers(options: RunHandlerOptions): RunHandlers {
  const { store } = options
  const tables = runTables(store)
  const trials = trialView(options)
  return {
    listRuns: async ({ query: { offset, limit, ...filter } }) => {
      const { runs, names } = await tables.runs(filter)
      return ok({ runs: runs.slice(offset, offset + limit), total: runs.length, names })
    },
    getRun: async ({ run }) => {
      const { dir } = openRun(store, run)
      // Before the trials are read, so that a stream from here misses none.
      const position = bytesOf(runFile.trialLog(dir)) ?? 0
      return ok({ position, ...(await runAnswer(run, store, tables.trials(run))) })
    },
    pluginRun: ({ run }) => ok(pluginView(store, run, tables.trials(run))),
    runFile: ({ run, query: { path } }) => {
      const { dir } = openRun(store, run)
      return isHidden(dir)(normalize(path), false)
        ? problem(404, 'not_found', 'the run has no such log or report')
        : fileAnswer(dir, path)
    },
    runEvents: ({ run, query, lastEventId }) => {
      openRun(store, run)
      return { kind: 'follow', runId: run, from: lastEventId ?? query.after ?? 0 }
    },
    listTrials: ({ run, query: { offset, limit, descending, ...selection } }) => {
      openRun(store, run)
      const found = selectTrials(tables.trials(run), {
        ...(selection as TrialSelection),
        descending: descending === 'true',
      })
      return ok({ trials: found.slice(offset, offset + limit), total: found.length })
    },
    ...trials,
    searchRun: async ({ run, query }) => ok(await searchRun(openRun(store, run), query)),
    flagRun: ({ run, body: { reason, ...flags } }) => {
      openRun(store, run)
      for (const [flag, on] of Object.entries(flags))
        if (on !== undefined) flagRun(store, run, flag as RunFlag, on, reason)
      return ok({
        flags: Object.entries(openRun(store, run).manifest().flags).flatMap(([name, on]) =>
          on ? [name] : [],
        ),
      })
    },
    deleteRun: ({ run }) => {
      openRun(store, run)
      const outcome = removeRun(store, run)
      return outcome === 'live'
        ? problem(409, 'live', `${run} is running`, 'Stop it first.')
        : ok({ outcome })
    },
    retention: async () => {
      const { remove, keep } = await nextRetention(store)
      return ok({
        max_age_ms: defaultRetention.maxAgeMs,
        max_runs: defaultRetention.maxRuns,
        next: remove,
        kept: Object.fromEntries(keep.map(({ id, reason }) => [id, reason])),
      })
    },
    compare: async ({ query: { sides, margin } }) =>
      ok(await comparison(store, sides, Number(margin ?? 0.05))),
    trends: async ({ query: { limit, ...filter } }) => ok(await trend(store, tables, filter, limit)),
    ...labelHandlers(options),
  }
}

/** Files of the run itself, not of its trials: logs and reports. Steps of a verification and tasks leave others beside them. */
function isHidden(dir: string): NonNullable<ListFilesOptions['exclude']> {
  const state = readManifestState(dir)
  const isOfSteps = state.kind === 'whole' && /^(?:verify|task)$/.test(state.manifest.kind)
  const shown = isOfSteps ? /^(?!inputs\/|trials\/|lock$|manifest\.|plan\.json$)/ : /^(?:logs|reports)\//
  return (path, isDirectory) => !shown.test(isDirectory ? `${path}/` : path)
}

async function runAnswer(runId: string, store: Store, trials: readonly TrialRow[]): Promise<object> {
  const run = openRun(store, runId)
  const row = await rowOf(store, runId)
  const state = readManifestState(run.dir)
  const manifest = state.kind === 'whole' ? state.manifest : null
  const cells = caseCells(trials)
  const planned = plannedTrials(run)
  const ended = new Set(trials.map(({ trial_id }) => trial_id))
  const shared = {
    row,
    manifest,
    planned: planned.length,
    begun: row.live ? begunTrials(run, planned, ended) : [],
    tokens: tokensOf(trials),
    rates: agentRates(cells),
    cells,
    command: manifest === null ? '' : commandWords(manifest.argv),
    files: filesOf(run.dir, isHidden(run.dir)),
  }
  const bare = { summary: null, sentence: '', comparisons: [], regrade: null, sections: [] }
  if (manifest === null)
    return { ...shared, ...bare, problem: 'Its manifest is missing or damaged, so little is known about it.' }
  if (row.live) return { ...shared, ...bare, problem: null, sentence: liveSentence(trials, shared.planned) }
  try {
    const finished = await readRun(store, runId, (value) => value)
    const { summary, comparisons = [], regrade = null, sections = [] } = finished
    const result = { summary, sentence: runSentence(finished), comparisons, regrade, sections }
    return { ...shared, problem: null, ...result }
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
    return { ...shared, ...bare, problem: error.message }
  }
}

/** null when no trial measured them. */
function tokensOf(trials: readonly TrialRow[]) {
  if (trials.every(({ input_tokens }) => input_tokens == null)) return null
  const sum = (key: 'input_tokens' | 'output_tokens'): number =>
    trials.reduce((total, trial) => total + (trial[key] ?? 0), 0)
  return { input: sum('input_tokens'), output: sum('output_tokens') }
}

function liveSentence(trials: readonly TrialRow[], planned: number): string {
  const failed = trials.filter(({ verdict }) => verdict === 'fail').length
  return `Running: ${trials.length} of ${planned} trials have ended, ${failed} failed.`
}

async function rowOf(store: Store, runId: string): Promise<RunRow> {
  const { runs } = await listRuns(store, { only: runId })
  const [row] = runs
  if (row === undefined) throw new GantryError('NOT_FOUND', `there is no run ${runId}`)
  return row
}

/** Names of runs only: a baseline file is for the command line, which says what may be read. */
async function comparison(store: Store, sides: string, margin: number): Promise<object> {
  const names = sides.split(',').map(percentDecoded)
  const wrong = names.find((name) => !/^[\w-]+(?:~\d+)?(?::.+)?$/s.test(name))
  if (wrong !== undefined)
    throw new GantryError('USAGE', `${JSON.stringify(wrong.slice(0, 80))} is not a run`)
  if (names.length > 10 || new Set(names).size < names.length)
    throw new GantryError('USAGE', 'name up to ten different runs')
  const { comparisons, sides: compared } = await compareSides(store, names, { margin, seed: 1 })
  const described = compared.map(async ({ runId, ...side }) => ({ ...side, run: await rowOf(store, runId) }))
  return { comparisons, sides: await Promise.all(described) }
}

async function trend(
  store: Store,
  tables: ReturnType<typeof runTables>,
  filter: TrendFilter,
  limit: number,
): Promise<object> {
  const { runs } = await tables.runs({ kind: 'scenario', ...filter })
  const known = runs
    .filter(({ status }) => status !== 'unknown')
    .slice(0, limit)
    .reverse()
    .flatMap((row) => {
      const state = readManifestState(join(store.runsDir, row.id))
      if (state.kind !== 'whole') return []
      const { commit_sha: commit, versions } = state.manifest
      return { ...row, commit, versions, trials: tables.trials(row.id) }
    })
  return trendOf(known, filter)
}
