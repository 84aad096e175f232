import { type Aggregate, aggregate } from '../../../judge/aggregate.ts'
import type { JudgeCitation, JudgeVote, PluginJudgement } from '../contract.ts'

export type ScoredVote = Extract<JudgeVote, { kind: 'scored' }>
export type AggregateMethod = 'average' | 'median' | 'consensus'

export interface VoteFacts
  extends Pick<PluginJudgement, 'model' | 'cost_usd' | 'batched' | 'dropped_citations'> {
  readonly method: AggregateMethod
}

const hows: Readonly<Record<AggregateMethod, Aggregate>> = {
  average: 'mean',
  median: 'median',
  consensus: 'mode',
}

/** One judgement of several votes. Votes with an error are kept and do not count. */
export function joinVotes(
  votes: readonly JudgeVote[],
  { method, model, cost_usd, batched, dropped_citations }: VoteFacts,
): PluginJudgement {
  const scored = votes.filter((vote) => vote.kind === 'scored')
  const qualities = scored.map(({ quality_score }) => quality_score)
  const accuracies = scored.map(({ trigger_accuracy }) => trigger_accuracy)
  const accuracy = mostly(accuracies)
  const score_variance = variance(qualities)
  const is_unanimous =
    scored.length > 0 &&
    new Set(scored.map((vote) => `${vote.trigger_accuracy} ${vote.triggered}`)).size === 1
  return {
    model,
    quality_score: joined(qualities, method),
    response_relevance: joined(
      scored.map(({ response_relevance }) => response_relevance),
      method,
    ),
    trigger_accuracy: accuracy,
    triggered: majority(scored),
    score_variance,
    is_unanimous,
    confidence_level: confidenceLevel(scored.length, is_unanimous, score_variance),
    issues: [...new Set(scored.flatMap(({ issues }) => issues))],
    highlights: distinct(scored.flatMap(({ highlights }) => highlights)),
    dropped_citations,
    summary: scored.find(({ trigger_accuracy }) => trigger_accuracy === accuracy)?.summary ?? '',
    votes,
    cost_usd,
    batched,
  }
}

function joined(scores: readonly number[], method: AggregateMethod): number | null {
  return scores.length === 0 ? null : aggregate(scores, hows[method])
}

/** The worst first: in a tie the worst one wins. */
const accuracyOrder = ['incorrect', 'partial', 'correct'] as const

function mostly(given: readonly ScoredVote['trigger_accuracy'][]): ScoredVote['trigger_accuracy'] | null {
  const count = (accuracy: string): number => given.filter((one) => one === accuracy).length
  const most = Math.max(...accuracyOrder.map(count))
  return most === 0 ? null : (accuracyOrder.find((accuracy) => count(accuracy) === most) ?? null)
}

/** null when the votes are evenly split. */
function majority(scored: readonly ScoredVote[]): boolean | null {
  const yes = scored.filter(({ triggered }) => triggered).length
  const no = scored.length - yes
  return yes === no ? null : yes > no
}

/** The population variance: these judges are all there are. */
function variance(scores: readonly number[]): number {
  if (scores.length === 0) return 0
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length
  const squares = scores.reduce((sum, score) => sum + (score - mean) ** 2, 0)
  return Math.round((squares / scores.length) * 1e9) / 1e9
}

function confidenceLevel(
  votes: number,
  isUnanimous: boolean,
  scoreVariance: number,
): PluginJudgement['confidence_level'] {
  if (votes === 0) return 'low'
  if (isUnanimous && scoreVariance < 0.5) return 'high'
  return scoreVariance < 1.5 ? 'medium' : 'low'
}

function distinct(citations: readonly JudgeCitation[]): readonly JudgeCitation[] {
  const seen = new Set<string>()
  return citations.filter(({ message_id, quoted_text }) => {
    const key = `${message_id} ${quoted_text}`
    return !seen.has(key) && seen.add(key)
  })
}
