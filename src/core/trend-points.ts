import { caseCells, selectTrials, type TrialFacts, type TrialSelection } from './select-trials.ts'
import { rateOnTheseCases } from './stats/exact-rate.ts'

interface TrendRun {
  readonly id: string
  readonly startedAt: string
  readonly title: string
  readonly commit: string
  readonly versions: { readonly gantry: string; readonly agents: Readonly<Record<string, string>> }
  readonly trials: readonly TrialFacts[]
}

export type TrendFilter = Pick<TrialSelection, 'case' | 'agent' | 'model'>

/** Runs in the order given, for the page and its exported copy. */
export function trendOf(runs: readonly TrendRun[], filter: TrendFilter) {
  const cases = new Set(runs.flatMap(({ trials }) => trials.map((trial) => trial.case)))
  return { cases: [...cases].sort(), points: runs.flatMap((run) => trendPoints(run, filter)) }
}

/** A point for each agent and model of a run that has counted trials. */
function trendPoints(run: TrendRun, filter: TrendFilter) {
  const cells = caseCells(selectTrials(run.trials, filter))
  const groups = Map.groupBy(cells, ({ agent, model }) => JSON.stringify([agent, model]))
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    const counted = group.filter(({ counts }) => counts.pass + counts.fail > 0)
    if (first === undefined || counted.length === 0) return []
    const rate = rateOnTheseCases(
      counted.map(({ counts: { pass, fail } }) => ({ passes: pass, n: pass + fail })),
    )
    const sum = (pick: (cell: (typeof group)[number]) => number): number =>
      counted.reduce((total, cell) => total + pick(cell), 0)
    const costs = counted.flatMap(({ costUsd }) => costUsd ?? [])
    return {
      run: run.id,
      at: run.startedAt,
      commit: run.commit,
      title: run.title,
      agent: first.agent,
      model: first.model,
      versions: { gantry: run.versions.gantry, ...run.versions.agents },
      trials: sum(({ counts }) => counts.pass + counts.fail),
      passes: sum(({ counts }) => counts.pass),
      low: rate.low,
      high: rate.high,
      cost_usd: costs.length === 0 ? null : costs.reduce((a, b) => a + b, 0),
      duration_ms: sum(({ durationMs }) => durationMs),
      flaky: counted.filter(({ counts }) => counts.pass > 0 && counts.fail > 0).length,
      cases: counted.length,
    }
  })
}
