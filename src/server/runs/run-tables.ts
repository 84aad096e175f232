import { join } from 'node:path'
import { GantryError } from '../../core/error.ts'
import { defined } from '../../core/json-fields.ts'
import { type RunSelection, selectRuns } from '../../core/select-runs.ts'
import type { Store, TrialRow } from '../../store/contract.ts'
import { type RunIndex, withIndexDatabase } from '../../store/index-database.ts'
import { runStamp } from '../../store/indexed-run.ts'
import { listRuns } from '../../store/list-runs.ts'
import { refreshRun } from '../../store/refresh-index.ts'
import { parseRunId } from '../../store/run-id.ts'
import { readTrialRows } from '../../store/run-row.ts'

export interface RunFilter extends RunSelection {
  readonly agent?: string | undefined
  readonly model?: string | undefined
  readonly tag?: string | undefined
  readonly case?: string | undefined
}

const runsKept = 4

/** Rows of runs and trials for the page, from the index where that works. */
export function runTables(store: Store) {
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
