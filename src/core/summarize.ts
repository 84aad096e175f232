import { type CaseTally, createCaseTally, settled } from './case-tally.ts'
import { type CaseMean, caseMeanRate } from './stats/case-mean-rate.ts'
import type { CaseSummary, Regression, RunSummary, RunVerdict } from './summary.ts'
import type { TrialRecord } from './trial.ts'
import type { Verdict } from './verdict.ts'

export interface SummaryOptions {
  /** Above this share of `infra` trials the run is `infra`. Default .05. */
  readonly maxInfraRate?: number
  /** Pass rate every case must reach. Default 1. */
  readonly threshold?: number
  /** Of the resampling behind the suite's interval. */
  readonly seed?: number
}

export interface RunEnd {
  readonly durationMs: number
  readonly notRun?: number
  /** Spent on tries that are in no record: the machinery broke, or the money ran out in the middle. */
  readonly asideCostUsd?: number
  readonly regressions?: readonly Regression[]
}

export interface SummaryFold {
  add(record: TrialRecord): void
  /** May be called at any time, also for a live view; adding can go on afterwards. */
  finish(end: RunEnd): RunSummary
}

/**
 * Folds trials into the run's summary. Memory grows with the number of cases, not of trials, and the order of adding does
 * not matter. Money counts whenever it was spent, by `infra` trials too; a trial from the cache spent none now.
 */
export function createSummary(options: SummaryOptions = {}): SummaryFold {
  const { maxInfraRate = 0.05, threshold = 1, seed = 1 } = options
  const groups = new Map<string, { readonly case: string; readonly tally: CaseTally }>()
  const counts: Record<Verdict, number> = { pass: 0, fail: 0, infra: 0, invalid: 0 }
  let trials = 0
  let cached = 0
  let infraRetries = 0
  let spentUsd = 0
  let unmeteredTrials = 0

  const add = (record: TrialRecord): void => {
    trials += 1
    counts[record.verdict] += 1
    infraRetries += record.infraRetries
    if (record.cachedFrom !== null) cached += 1
    else if (record.costUsd === null) unmeteredTrials += 1
    else spentUsd += record.costUsd
    const key = JSON.stringify([record.case, record.agent, record.model])
    let group = groups.get(key)
    if (group === undefined) {
      const { case: name, agent, model } = record
      group = { case: name, tally: createCaseTally({ case: name, agent, model }) }
      groups.set(key, group)
    }
    group.tally.add(record)
  }

  const finish = ({ durationMs, notRun = 0, asideCostUsd = 0, regressions = [] }: RunEnd): RunSummary => {
    const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
    const cases = sorted.map(({ tally }) => tally.finish())
    return {
      verdict: runVerdict({ counts, notRun, maxInfraRate, belowThreshold: cases.some(isBelow(threshold)) }),
      trials,
      counts: { ...counts },
      notRun,
      cached,
      infraRetries,
      infraRate: trials === 0 ? 0 : counts.infra / trials,
      ...(threshold < 1 && { threshold }),
      passRate: caseMeanRate(caseMeans(sorted), { seed }),
      flakeRate: flakeRate(cases),
      costUsd: trials === unmeteredTrials && asideCostUsd === 0 ? null : settled(spentUsd + asideCostUsd),
      unmeteredTrials,
      durationMs,
      cases,
      regressions,
    }
  }

  return { add, finish }
}

function isBelow(threshold: number): (entry: CaseSummary) => boolean {
  return ({ passRate: { value } }) => value !== null && value < threshold
}

/** One mean per case, over the agents and models that ran it: what they share is the case. */
function caseMeans(groups: Iterable<{ readonly case: string; readonly tally: CaseTally }>): CaseMean[] {
  const byCase = new Map<string, { sum: number; groups: number; n: number }>()
  for (const { case: name, tally } of groups) {
    const share = tally.passShare()
    if (share === null) continue
    const entry = byCase.get(name) ?? { sum: 0, groups: 0, n: 0 }
    byCase.set(name, { sum: entry.sum + share, groups: entry.groups + 1, n: entry.n + tally.counted() })
  }
  return [...byCase.values()].map(({ sum, groups: count, n }) => ({ mean: sum / count, n }))
}

function flakeRate(cases: readonly CaseSummary[]): number | null {
  const repeated = cases.filter(({ counts }) => counts.pass + counts.fail >= 2)
  if (repeated.length === 0) return null
  return repeated.filter(({ flaky }) => flaky).length / repeated.length
}

interface RunFacts {
  readonly counts: Readonly<Record<Verdict, number>>
  readonly notRun: number
  /** A case passed too rarely. Default: any trial failed. */
  readonly belowThreshold?: boolean
  /** Largest share of `infra` trials with which the rest may still be believed. */
  readonly maxInfraRate: number
}

/**
 * What a run says as a whole. The first that holds:
 * - `infra`: more trials than allowed did not really happen, or none did; what remains is not to be trusted, not even its
 *   failures, because whatever broke the others may have broken those too;
 * - `fail`: an agent failed, more often than the threshold allows. It wins over everything below: more cases could not turn it into a pass;
 * - `invalid`: a case is broken. It wins over `partial` because running the rest would not fix it;
 * - `partial`: what ran has passed, and something planned was not run;
 * - `inconclusive`: there was nothing to run;
 * - `pass`.
 */
export function runVerdict({ counts, notRun, maxInfraRate, belowThreshold }: RunFacts): RunVerdict {
  const trials = counts.pass + counts.fail + counts.infra + counts.invalid
  if (counts.infra > 0 && (counts.infra / trials > maxInfraRate || counts.infra === trials)) return 'infra'
  if (belowThreshold ?? counts.fail > 0) return 'fail'
  if (counts.invalid > 0) return 'invalid'
  if (notRun > 0) return 'partial'
  return trials === 0 ? 'inconclusive' : 'pass'
}
