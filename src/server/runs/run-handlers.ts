import { join, normalize } from 'node:path'
import { agentRates } from '../../core/create-summary.ts'
import { GantryError } from '../../core/error.ts'
import { defined } from '../../core/json-fields.ts'
import { percentDecoded } from '../../core/percent-decoded.ts'
import { type RunSelection, selectRuns } from '../../core/select-runs.ts'
import { caseCells, selectTrials, type TrialSelection } from '../../core/select-trials.ts'
import { type TrendFilter, trendOf } from '../../core/trend-points.ts'
import { bytesOf } from '../../io/directory.ts'
import type { ListFilesOptions } from '../../io/list-files.ts'
import { type Label, labelsFile, readLabels } from '../../judge/labels.ts'
import { readRun } from '../../library/report-run.ts'
import { runSentence, trustSentence } from '../../report/run-sentence.ts'
import { compareSides } from '../../scenario/compare-sides.ts'
import { calibrateJudges, storeLabels } from '../../scenario/label-trials.ts'
import { commandWords } from '../../shell/quote-word.ts'
import { nextRetention } from '../../store/apply-retention.ts'
import {
  defaultRetention,
  type RunFlag,
  type RunRow,
  type Store,
  type StoredRun,
  type TrialRow,
} from '../../store/contract.ts'
import { flagRun } from '../../store/flag-run.ts'
import { type RunIndex, withIndexDatabase } from '../../store/index-database.ts'
import { runStamp } from '../../store/indexed-run.ts'
import { listRuns } from '../../store/list-runs.ts'
import { readManifestState } from '../../store/manifest.ts'
import { openRun } from '../../store/open-run.ts'
import { trialIds } from '../../store/read-trials.ts'
import { refreshRun } from '../../store/refresh-index.ts'
import { removeRun } from '../../store/remove-run.ts'
import { parseRunId } from '../../store/run-id.ts'
import { runFile } from '../../store/run-paths.ts'
import { readTrialRows } from '../../store/run-row.ts'
import { ok, problem } from '../answer.ts'
import { begunTrials, plannedTrials } from './begun-trials.ts'
import type { RunHandlerOptions, RunHandlers } from './contract.ts'
import { pluginView } from './plugin-view.ts'
import { fileAnswer, filesOf, searchLog, trialView } from './trial-view.ts'

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

/** Labels are a file of the project, as `gantry label` writes it. */
function labelHandlers({
  store,
  project,
}: RunHandlerOptions): Pick<RunHandlers, 'listLabels' | 'calibration' | 'labelTrial'> {
  const file = project === null ? null : join(project, labelsFile)
  const labels = (): ReadonlyMap<string, Label> => (file === null ? new Map() : readLabels(file))
  return {
    listLabels: () => ok({ file, labels: [...labels().values()].reverse() }),
    calibration: async () => {
      const given = labels()
      const judges = given.size === 0 ? [] : await calibrateJudges(store, given, [], 1)
      const trust = judges.map((judge) => trustSentence({ ...judge, kappa: judge.kappa?.value ?? null }))
      return ok({ judges, trust })
    },
    labelTrial: async ({ run, trial, body: { label, note } }) => {
      if (project === null)
        return problem(409, 'no_project', 'labels belong to a project', 'Start gantry view in its directory.')
      openRun(store, run)
      const given = { run, trial, label, ...(note !== undefined && { note }) }
      return ok((await storeLabels(store, [given], project)).labels[0])
    },
  }
}

/** Of one answer, of one trial, and of one look into a log. */
const maxHits = 100
const maxHitsOfTrial = 5
const maxBytes = 16 * 1024 * 1024
const sliceBytes = 4 * 1024 * 1024

/** A text in the logs of all trials, in their order. It reads a part of the run: `next` says where it goes on, as `trial:position`. */
async function searchRun(
  run: StoredRun,
  { text, after }: { readonly text: string; readonly after?: string | undefined },
) {
  const ids = trialIds(run.dir)
  const [begin = '', position = '0'] = after?.split(':') ?? []
  const hits: { trial: string; at: number; excerpt: string; more: boolean }[] = []
  let [at, from] = [Math.max(0, ids.indexOf(begin)), Number(position) || 0]
  for (let read = 0; at < ids.length && hits.length < maxHits && read < maxBytes; ) {
    const trial = ids[at] ?? ''
    const limits = { from, maxHits: maxHitsOfTrial, maxBytes: sliceBytes }
    const found = await searchLog(join(run.trialDir(trial), 'events.jsonl'), text, limits)
    const shown = found.hits.slice(0, maxHitsOfTrial)
    const isEnough = shown.length === maxHitsOfTrial
    const more = found.hits.length > shown.length || (isEnough && found.next !== null)
    for (const [index, hit] of shown.entries())
      hits.push({ trial, ...hit, more: more && index === shown.length - 1 })
    read += found.next === null ? 10_000 : found.next - from
    ;[at, from] = found.next === null || isEnough ? [at + 1, 0] : [at, found.next]
  }
  const next = at < ids.length ? `${ids[at]}:${from}` : null
  return { hits, next, searched: at, trials: ids.length }
}

interface RunFilter extends RunSelection {
  readonly agent?: string | undefined
  readonly model?: string | undefined
  readonly tag?: string | undefined
  readonly case?: string | undefined
}

const runsKept = 4

/** Rows of runs and trials for the page, from the index where that works. */
function runTables(store: Store) {
  /** The trials of the runs looked at last, with the stamp they had. */
  const kept = new Map<string, { readonly stamp: string; readonly trials: readonly TrialRow[] }>()
  const indexed = <T>(work: (index: RunIndex) => T): T | null => {
    try {
      return withIndexDatabase(store, work)
    } catch (error) {
      // The store is read-only, the disk is full, or another process locks the index.
      if (error instanceof GantryError) return null
      throw error
    }
  }
  return {
    async runs(filter: RunFilter) {
      const { agent, model, tag, case: name } = filter
      const { runs } = await listRuns(store)
      const names = indexed((index) => index.names()) ?? { agents: [], models: [], tags: [] }
      const isAboutTrials = [agent, model, tag, name].some((one) => one !== undefined)
      const having = isAboutTrials
        ? indexed((index) => index.runsWith(defined({ agent, model, tag, case: name })))
        : null
      const wanted = having === null ? runs : runs.filter(({ id }) => having.has(id))
      return { runs: selectRuns(wanted, filter), names }
    },
    trials(runId: string): readonly TrialRow[] {
      const parsed = parseRunId(runId)
      if (parsed === null) return []
      const dir = join(store.runsDir, runId)
      const stamp = runStamp(dir)
      const before = kept.get(runId)
      kept.delete(runId)
      const trials =
        before?.stamp === stamp
          ? before.trials
          : (indexed((index) => {
              refreshRun(store, index, parsed)
              return index.trialsOf(runId)
            }) ?? [...readTrialRows(runId, dir)])
      kept.set(runId, { stamp, trials })
      for (const oldest of [...kept.keys()].slice(0, -runsKept)) kept.delete(oldest)
      return trials
    },
  }
}
