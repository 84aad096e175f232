import { settled } from '../../../core/case-tally.ts'
import { isCounted } from '../../../core/verdict.ts'
import type { TrialEvaluation } from '../contract.ts'
import type { EvaluationSummary, MultiSampleStats } from './evaluation-summary.ts'

/** A variance above this means that the judges see different things. */
const highVariance = 1

/** How judges spoke. Votes that failed are counted as such and enter no mean. */
export interface JudgeTally {
  add(evaluation: TrialEvaluation): void
  stats(): EvaluationSummary['judge']
  samples(): MultiSampleStats | null
}

export function createJudgeTally(): JudgeTally {
  let judged = 0
  let judgeErrors = 0
  let droppedCitations = 0
  let sampled = 0
  let mostSamples = 0
  let variance = 0
  let unanimous = 0
  const divided = new Set<string>()
  return {
    add: ({ judgement, verdict, scenario_id }) => {
      if (judgement === null) return
      const scored = judgement.votes.filter(({ kind }) => kind === 'scored').length
      judgeErrors += judgement.votes.length - scored
      droppedCitations += judgement.dropped_citations
      if (!isCounted(verdict) || judgement.quality_score === null) return
      judged += 1
      if (scored < 2) return
      sampled += 1
      mostSamples = Math.max(mostSamples, scored)
      variance += judgement.score_variance
      if (judgement.is_unanimous) unanimous += 1
      if (judgement.score_variance > highVariance) divided.add(scenario_id)
    },
    stats: () => ({ judged, judge_errors: judgeErrors, dropped_citations: droppedCitations }),
    samples: () =>
      sampled === 0
        ? null
        : {
            samples_per_scenario: mostSamples,
            avg_score_variance: settled(variance / sampled),
            high_variance_scenarios: [...divided].sort(),
            consensus_rate: settled(unanimous / sampled),
          },
  }
}
