import { z } from 'zod'
import { contentHash } from '../../../io/content-hash.ts'
import { isFailed, type SampleCheckpoint, takeSamples } from '../../../judge/take-samples.ts'
import type { Budget } from '../../../models/budget.ts'
import type { Model, ModelRequest } from '../../../models/contract.ts'
import type { PluginConfig } from '../../config/keys/schema.ts'
import type { PluginTranscript } from '../../execute/contract.ts'
import type { JudgeCitation, JudgeVote, PluginJudgement } from '../contract.ts'
import { joinVotes } from './join-votes.ts'
import { eventText, type JudgePromptTrial, judgePrompt } from './judge-prompt.ts'

export interface JudgeTrialRequest extends JudgePromptTrial, JudgeRequestOptions {
  readonly model: Model
  readonly config: Pick<PluginConfig, 'evaluation' | 'tuning'>
  /** Stores every answer at once, so that a killed run does not pay for it again. */
  readonly checkpoint?: SampleCheckpoint<GivenVote>
  /** Whether the model sends its calls in batches; recorded in the judgement. */
  readonly batched?: boolean
}

/** A judge's answer with unchecked citations and the hash of its question. Plain data. */
export type GivenVote = { readonly kind: 'scored'; readonly question: string } & VoteAnswer

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
  const schema = voteSchema(withCitations)
  const messageChars = tuning.limits.transcript_content_length
  const questionOf = (sample: number): Question => {
    const texts = judgePrompt(request, { withCitations, messageChars, sample, samples })
    return { ...texts, hash: contentHash([texts.system, texts.prompt]) }
  }
  const { asked, costUsd } = await takeSamples<GivenVote>({
    samples,
    ask: async (sample) => {
      const { hash: question, ...texts } = questionOf(sample)
      const answer = await model.structured({
        ...texts,
        schema,
        ...modelSettings(request),
      })
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
    batched,
    dropped_citations: dropped,
  })
}

/** The prompt asks for 1 to 10. 0 is accepted too, because models use it. */
const score = z.number().min(0).max(10)

const citationSchema = z.object({
  description: z.string(),
  message_id: z.string(),
  quoted_text: z.string(),
})

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
function voteSchema(withCitations: boolean): z.ZodType<VoteAnswer> {
  return withCitations ? citingSchema : plainSchema
}

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

interface CheckedCitations {
  readonly standing: readonly JudgeCitation[]
  /** How many name a missing message, or text that is not in it. */
  readonly dropped: number
}

/** Keeps the citations whose text is in the message they name, and computes its position. */
export function checkCitations(
  claimed: readonly ClaimedCitation[],
  { events }: Pick<PluginTranscript, 'events'>,
): CheckedCitations {
  const texts = new Map(events.map((event) => [event.id, eventText(event)]))
  const standing = claimed.flatMap((citation) => {
    const text = texts.get(citation.message_id)
    const place = text === undefined ? null : placeOf(citation.quoted_text, text)
    return place === null || text === undefined ? [] : [located(citation, text, place)]
  })
  return { standing, dropped: claimed.length - standing.length }
}

interface Place {
  readonly start: number
  readonly end: number
}

/** The kept text is that of the transcript. */
function located(
  { description, message_id }: ClaimedCitation,
  text: string,
  { start, end }: Place,
): JudgeCitation {
  return {
    description,
    message_id,
    quoted_text: text.slice(start, end),
    position_start: start,
    position_end: end,
  }
}

/** Exact, except for white space: a judge may write a line break differently. */
function placeOf(quote: string, text: string): Place | null {
  const wanted = spaced(quote).text.trim()
  if (wanted === '') return null
  const exact = text.indexOf(quote)
  if (exact !== -1) return { start: exact, end: exact + quote.length }
  const { text: searched, places } = spaced(text)
  const at = searched.indexOf(wanted)
  if (at === -1) return null
  return { start: places[at] ?? 0, end: (places[at + wanted.length - 1] ?? 0) + 1 }
}

/** The text with every run of white space as one space, and the position of each character in the original. */
function spaced(text: string): { readonly text: string; readonly places: readonly number[] } {
  let spacedText = ''
  const places: number[] = []
  for (const { 0: piece, index } of text.matchAll(/\s+|\S+/g)) {
    const shown = /\s/.test(piece) ? ' ' : piece
    for (let offset = 0; offset < shown.length; offset += 1) places.push(index + offset)
    spacedText += shown
  }
  return { text: spacedText, places }
}
