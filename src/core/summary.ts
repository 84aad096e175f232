import type { Verdict } from './verdict.ts'

/** A rate with its 95% interval; `value` is null when nothing was counted. */
export interface Rate {
  readonly value: number | null
  readonly low: number
  readonly high: number
  readonly n: number
}

/** The summary of a run. The denominator is always the counted trials (`pass` + `fail`). */
export interface RunSummary {
  readonly verdict: RunVerdict
  readonly trials: number
  readonly counts: Readonly<Record<Verdict, number>>
  /** Planned but not run: budget, time limit or interruption. */
  readonly notRun: number
  readonly cached: number
  readonly infraRetries: number
  /** Share of trials that are `infra`. */
  readonly infraRate: number
  /** Pass rate every case must reach for the run to pass; absent = 1. */
  readonly threshold?: number
  /** Mean of the case means on these cases, over all agents. */
  readonly passRate: Rate
  /** The same for each agent and model. Absent in runs of older versions. */
  readonly agents?: readonly AgentRate[]
  /** Share of cases with both outcomes, among cases with two or more counted trials. */
  readonly flakeRate: number | null
  /** null when no trial was metered. */
  readonly costUsd: number | null
  readonly unmeteredTrials: number
  readonly durationMs: number
  readonly cases: readonly CaseSummary[]
  readonly regressions: readonly Regression[]
  /** What was compared with the baseline. Absent without one. */
  readonly baseline?: BaselineComparison
  /** How far its judge is known to agree with people. Absent without a judge. */
  readonly judge?: JudgeTrust
}

export interface JudgeTrust {
  readonly model: string
  readonly labels: number
  /** Cohen's kappa; null when it is unknown. */
  readonly kappa: number | null
}

export interface AgentRate {
  readonly agent: string
  readonly model: string
  readonly cases: number
  /** On these cases: chance in the trials only. */
  readonly passRate: Rate
  /** To expect for cases like these; null with fewer than 10. */
  readonly passRateForCasesLikeThese: Rate | null
}

export interface BaselineComparison {
  readonly runId: string
  /** Results of one case, agent and model that both runs have. */
  readonly compared: number
  /** Results of this run that the baseline does not have, so nothing was compared. */
  readonly missing: readonly Pick<CaseSummary, 'case' | 'agent' | 'model'>[]
  /** Those whose scenario, template, graders or judge changed since, so nothing was compared. Absent when there are none. */
  readonly changed?: BaselineComparison['missing']
}

/** `partial`: some planned trials were not run. `infra`: too many trials failed for infrastructure reasons. */
export type RunVerdict = 'pass' | 'fail' | 'infra' | 'invalid' | 'partial' | 'inconclusive'

/** All trials of one case by one agent with one model. */
export interface CaseSummary {
  readonly case: string
  readonly agent: string
  readonly model: string
  readonly counts: Readonly<Record<Verdict, number>>
  readonly passRate: Rate
  /** Unbiased estimates for k = 1..n, capped at 10; index 0 is k = 1. */
  readonly passAtK: readonly number[]
  readonly passHatK: readonly number[]
  readonly flaky: boolean
  readonly meanScore: number | null
  readonly meanCostUsd: number | null
  readonly meanDurationMs: number
  readonly metrics: {
    readonly commands: number
    /** null: no exit code is known. */
    readonly errorRate: number | null
    readonly firstTrySuccessRate: number | null
    readonly helpInvocations: number
  }
}

export interface Regression {
  readonly case: string
  readonly agent: string
  readonly model: string
  readonly kind: 'gate' | 'score' | 'cost'
  readonly severity: 'alert' | 'warning'
  readonly message: string
}
