import { type CaseTally, createCaseTally, settled } from './case-tally.ts'
import { type CaseCount, rateForCasesLikeThese, rateOnTheseCases } from './stats/exact-rate.ts'
import type {
  AgentRate,
  BaselineComparison,
  CaseSummary,
  JudgeTrust,
  Regression,
  RunSummary,
  RunVerdict,
} from './summary.ts'
import type { TrialRecord } from './trial.ts'
import type { Verdict } from './verdict.ts'

export interface SummaryOptions {
  /** Above this share of `infra` trials the run is `infra`. Default .05. */
  readonly maxInfraRate?: number
  /** Pass rate every case must reach. Default 1. */
  readonly threshold?: number
  /** Names of agents in the order that is wanted; others come after them. */
  readonly arms?: readonly string[]
}

export interface RunEnd {
  readonly durationMs: number
  readonly notRun?: number
  /** Cost of tries without a record, because the infrastructure failed or the budget ran out. */
  readonly asideCostUsd?: number
  readonly regressions?: readonly Regression[]
  readonly baseline?: BaselineComparison
  readonly judge?: JudgeTrust
}

/**
 * Folds trials into the run's summary. Memory grows with the number of cases, not of trials, and the order does not matter. The cost
 * includes `infra` trials, but not trials from the cache.
 */
export function createSummary(options: SummaryOptions = {}) {
  const { maxInfraRate = 0.05, threshold = 1, arms = [] } = options
  const rankOf = ({ agent }: { readonly agent: string }): number => [...arms, agent].indexOf(agent)
  const groups = new Map<string, { readonly case: string; readonly tally: CaseTally }>()
  const counts: Record<Verdict, number> = { pass: 0, fail: 0, infra: 0, invalid: 0 }
  let trials = 0
  let untried = 0
  let cached = 0
  let infraRetries = 0
  let spentUsd = 0
  let unmeteredTrials = 0
  /** Trials with a known cost, in this run and in the runs that the cache has them from. */
  const metered = { here: 0, before: 0 }

  const add = (record: TrialRecord): void => {
    trials += 1
    counts[record.verdict] += 1
    if (record.untried === true) untried += 1
    infraRetries += record.infraRetries
    if (record.cachedFrom !== null) {
      cached += 1
      if (record.costUsd !== null) metered.before += 1
    } else if (record.costUsd === null) unmeteredTrials += 1
    else {
      metered.here += 1
      spentUsd += record.costUsd
    }
    const key = JSON.stringify([record.case, record.agent, record.model])
    let group = groups.get(key)
    if (group === undefined) {
      const { case: name, agent, model } = record
      group = { case: name, tally: createCaseTally({ case: name, agent, model }) }
      groups.set(key, group)
    }
    group.tally.add(record)
  }

  /** May be called at any time, also for a live view. Adding can continue afterwards. */
  const finish = ({
    durationMs,
    notRun = 0,
    asideCostUsd = 0,
    regressions = [],
    baseline,
    judge,
  }: RunEnd): RunSummary => {
    const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => group)
    const cases = sorted.map(({ tally }) => tally.finish())
    const isMetered = metered.here > 0 || asideCostUsd > 0 || (unmeteredTrials === 0 && metered.before > 0)
    return {
      verdict: runVerdict({
        counts,
        untried,
        notRun,
        maxInfraRate,
        belowThreshold: cases.some(({ passRate: { value } }) => value !== null && value < threshold),
      }),
      trials,
      counts: { ...counts },
      notRun,
      cached,
      infraRetries,
      infraRate: trials === 0 ? 0 : counts.infra / trials,
      ...(threshold < 1 && { threshold }),
      passRate: rateOnTheseCases(caseCounts(sorted)),
      agents: agentRates(cases.toSorted((a, b) => rankOf(a) - rankOf(b))),
      flakeRate: flakeRate(cases),
      costUsd: isMetered ? settled(spentUsd + asideCostUsd) : null,
      unmeteredTrials,
      durationMs,
      cases,
      regressions,
      ...(baseline !== undefined && { baseline }),
      ...(judge !== undefined && { judge }),
    }
  }

  return { add, finish }
}

/** One mean per case, over the agents and models that ran it. */
function caseCounts(groups: Iterable<{ readonly case: string; readonly tally: CaseTally }>): CaseCount[] {
  const byCase = new Map<string, { sum: number; groups: number; n: number }>()
  for (const { case: name, tally } of groups) {
    const share = tally.passShare()
    if (share === null) continue
    const entry = byCase.get(name) ?? { sum: 0, groups: 0, n: 0 }
    byCase.set(name, { sum: entry.sum + share, groups: entry.groups + 1, n: entry.n + tally.counted() })
  }
  return [...byCase.values()].map(({ sum, groups: count, n }) => ({ passes: (sum / count) * n, n }))
}

/** Per agent and model, over the cases it has counted trials of. */
export function agentRates(cases: readonly Pick<CaseSummary, 'agent' | 'model' | 'counts'>[]): AgentRate[] {
  const counted = cases.filter(({ counts: { pass, fail } }) => pass + fail > 0)
  return [...Map.groupBy(counted, ({ agent, model }) => JSON.stringify([agent, model])).values()].flatMap(
    (of) => {
      const [first] = of
      const counts = of.map(({ counts: { pass, fail } }) => ({ passes: pass, n: pass + fail }))
      return first === undefined
        ? []
        : {
            agent: first.agent,
            model: first.model,
            cases: of.length,
            passRate: rateOnTheseCases(counts),
            passRateForCasesLikeThese: rateForCasesLikeThese(counts),
          }
    },
  )
}

function flakeRate(cases: readonly CaseSummary[]): number | null {
  const repeated = cases.filter(({ counts }) => counts.pass + counts.fail >= 2)
  if (repeated.length === 0) return null
  return repeated.filter(({ flaky }) => flaky).length / repeated.length
}

interface RunFacts {
  readonly counts: Readonly<Record<Verdict, number>>
  /** Invalid trials whose case is not broken. Default 0. */
  readonly untried?: number
  readonly notRun: number
  /** Whether a case passed too rarely. Default: any trial failed. */
  readonly belowThreshold?: boolean
  /** Largest acceptable share of `infra` trials. */
  readonly maxInfraRate: number
}

/**
 * The verdict of a whole run. The first that applies:
 * - `infra`: more trials than allowed failed for infrastructure reasons, or all did. The rest cannot be trusted, not even failures,
 *   because the same problem may have caused them;
 * - `fail`: an agent failed more often than the threshold allows. More trials could not turn it into a pass;
 * - `invalid`: a case is broken. It wins over `partial` because running the rest would not fix it;
 * - `partial`: all trials so far passed, and some planned ones were not run or tried nothing;
 * - `inconclusive`: there was nothing to run;
 * - `pass`.
 */
export function runVerdict({
  counts,
  untried = 0,
  notRun,
  maxInfraRate,
  belowThreshold,
}: RunFacts): RunVerdict {
  const trials = counts.pass + counts.fail + counts.infra + counts.invalid
  if (counts.infra > 0 && (counts.infra / trials > maxInfraRate || counts.infra === trials)) return 'infra'
  if (belowThreshold ?? counts.fail > 0) return 'fail'
  if (counts.invalid > untried) return 'invalid'
  if (notRun > 0 || untried > 0) return 'partial'
  return trials === 0 ? 'inconclusive' : 'pass'
}
