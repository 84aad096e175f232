import { z } from 'zod'
import { contentHash } from '../../../io/content-hash.ts'
import { type Aggregate, aggregate } from '../../../judge/aggregate.ts'
import { isFailed, type SampleCheckpoint, takeSamples } from '../../../judge/take-samples.ts'
import type { Budget } from '../../../models/budget.ts'
import type { Model, ModelRequest } from '../../../models/contract.ts'
import type { PluginConfig } from '../../config/keys/schema.ts'
import type { PluginTranscript } from '../../execute/contract.ts'
import type { JudgeCitation, JudgeVote, PluginJudgement } from '../contract.ts'
import { eventText, type JudgePromptTrial, judgePrompt } from './judge-prompt.ts'

export interface JudgeTrialRequest extends JudgePromptTrial, JudgeRequestOptions {
  readonly model: Model
  readonly config: Pick<PluginConfig, 'evaluation' | 'tuning'>
  /** Stores every answer at once, so that a killed run does not pay for it again. */
  readonly checkpoint?: SampleCheckpoint<UncheckedVote>
  /** Whether the model sends its calls in batches; recorded in the judgement. */
  readonly batched?: boolean
}

/** A judge's answer with unchecked citations and the hash of its question. Plain data. */
export type UncheckedVote = { readonly kind: 'scored'; readonly question: string } & VoteAnswer

interface Question {
  readonly system: string
  readonly prompt: string
  readonly hash: string
}

/**
 * Asks judges whether the expected component fired and how well that went, joins their scores and checks their citations. A
 * judge that does not answer is recorded as an error and never as a score. Throws only for an interruption.
 */
export async function judgeTrial(request: JudgeTrialRequest): Promise<PluginJudgement> {
  const { model, config, transcript, checkpoint, batched = false } = request
  const { evaluation, tuning } = config
  const { num_samples: samples, include_citations: withCitations } = evaluation
  const schema: z.ZodType<VoteAnswer> = withCitations ? citingSchema : plainSchema
  const messageChars = tuning.limits.transcript_content_length
  const questionOf = (sample: number): Question => {
    const texts = judgePrompt(request, { withCitations, messageChars, sample, samples })
    return { ...texts, hash: contentHash([texts.system, texts.prompt]) }
  }
  const { asked, costUsd, tokens } = await takeSamples<UncheckedVote>({
    samples,
    ask: async (sample) => {
      const { hash: question, ...texts } = questionOf(sample)
      const answer = await model.structured({ ...texts, schema, ...modelSettings(request) })
      return { ...answer, value: { kind: 'scored', question, ...answer.value } }
    },
    // A stored answer is used only for exactly the same question.
    fits: ({ question }, sample) => question === questionOf(sample).hash,
    ...(checkpoint !== undefined && { checkpoint }),
  })
  let dropped = 0
  const votes = asked.map(({ result }): JudgeVote => {
    if (isFailed(result)) return result
    const { question: _, highlights = [], ...vote } = result
    const cited = checkCitations(highlights, transcript)
    dropped += cited.dropped
    return { ...vote, highlights: cited.standing }
  })
  return joinVotes(votes, {
    method: evaluation.aggregate_method,
    model: model.name,
    cost_usd: costUsd,
    tokens,
    batched,
    dropped_citations: dropped,
  })
}

/** The prompt asks for 1 to 10. 0 is accepted too, because models use it. */
const score = z.number().min(0).max(10)

const citationSchema = z.object({ description: z.string(), message_id: z.string(), quoted_text: z.string() })

const plainSchema = z.object({
  triggered: z.boolean(),
  trigger_accuracy: z.enum(['correct', 'incorrect', 'partial']),
  quality_score: score,
  response_relevance: score,
  issues: z.array(z.string()).default([]),
  summary: z.string(),
})

const citingSchema = plainSchema.extend({ highlights: z.array(citationSchema).default([]) })

/** The answer of a judge. Positions of citations are computed, because models cannot count characters. */
type VoteAnswer = z.output<typeof plainSchema> & {
  readonly highlights?: readonly z.output<typeof citationSchema>[]
}

export interface JudgeRequestOptions {
  readonly config: Pick<PluginConfig, 'evaluation'>
  readonly signal?: AbortSignal
  /** Charged instead of the model's own. */
  readonly budget?: Budget
}

/** Model settings for every judge call, from `evaluation` in the configuration. */
export function modelSettings({
  config: { evaluation },
  signal,
  budget,
}: JudgeRequestOptions): Omit<ModelRequest, 'prompt' | 'system'> {
  return {
    maxOutputTokens: evaluation.max_tokens,
    temperature: evaluation.temperature,
    effort: evaluation.reasoning_effort,
    timeoutMs: evaluation.api_timeout_ms,
    ...(signal !== undefined && { signal }),
    ...(budget !== undefined && { budget }),
  }
}

/** A citation as the judge gave it, not checked yet. */
type ClaimedCitation = Pick<JudgeCitation, 'description' | 'message_id' | 'quoted_text'>

/** Keeps the citations whose text is in the message they name, and computes its position. Counts the others. */
export function checkCitations(
  claimed: readonly ClaimedCitation[],
  { events }: Pick<PluginTranscript, 'events'>,
) {
  const texts = new Map(events.map((event) => [event.id, eventText(event)]))
  const standing = claimed.flatMap(({ description, message_id, quoted_text }): JudgeCitation[] => {
    const found = findQuote(quoted_text, texts.get(message_id) ?? '')
    if (found === null) return []
    const { text, start } = found
    // The kept text is that of the transcript.
    return [
      {
        description,
        message_id,
        quoted_text: text,
        position_start: start,
        position_end: start + text.length,
      },
    ]
  })
  return { standing, dropped: claimed.length - standing.length }
}

/** Exact, except for white space: a judge may write a line break differently. */
function findQuote(quote: string, message: string): { readonly text: string; readonly start: number } | null {
  if (quote.trim() === '') return null
  const exact = message.indexOf(quote)
  if (exact !== -1) return { text: quote, start: exact }
  const words = quote.trim().split(/\s+/).map(RegExp.escape)
  const found = new RegExp(words.join('\\s+')).exec(message)
  return found === null ? null : { text: found[0], start: found.index }
}

export type ScoredVote = Extract<JudgeVote, { kind: 'scored' }>
export type AggregateMethod = 'average' | 'median' | 'consensus'

interface VoteFacts
  extends Pick<PluginJudgement, 'model' | 'cost_usd' | 'tokens' | 'batched' | 'dropped_citations'> {
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
  { method, model, cost_usd, tokens, batched, dropped_citations }: VoteFacts,
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
    ...(tokens !== undefined && { tokens }),
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
