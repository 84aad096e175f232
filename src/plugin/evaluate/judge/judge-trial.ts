import { z } from 'zod'
import { contentHash } from '../../../io/content-hash.ts'
import { isFailed, type SampleCheckpoint, takeSamples } from '../../../judge/take-samples.ts'
import type { Budget } from '../../../models/budget.ts'
import type { Model, ModelRequest } from '../../../models/contract.ts'
import type { PluginConfig } from '../../config/keys/schema.ts'
import type { JudgeVote, PluginJudgement } from '../contract.ts'
import { checkCitations } from './check-citations.ts'
import { joinVotes } from './join-votes.ts'
import { type JudgePromptTrial, judgePrompt } from './judge-prompt.ts'

export interface JudgeTrialRequest extends JudgePromptTrial, JudgeRequestOptions {
  readonly model: Model
  readonly config: Pick<PluginConfig, 'evaluation' | 'tuning'>
  /** Keeps every answer as it comes, so that a run that was killed pays none of them again. */
  readonly checkpoint?: SampleCheckpoint<GivenVote>
  /** Whether the model gathers its calls into batches: told in the judgement. */
  readonly batched?: boolean
}

/** A judge's answer as it came, its citations not looked at yet, with the hash of the question it answers. Plain data. */
export type GivenVote = { readonly kind: 'scored'; readonly question: string } & VoteAnswer

interface Question {
  readonly system: string
  readonly prompt: string
  readonly hash: string
}

/**
 * Asks judges whether the expected component fired and how well that went. Scores are joined here, citations checked here.
 * A judge that does not answer is recorded as an error and never as a score. Throws only for an interruption.
 */
export async function judgeTrial(request: JudgeTrialRequest): Promise<PluginJudgement> {
  const { model, config, transcript, checkpoint, batched = false } = request
  const { evaluation, tuning } = config
  const { num_samples: samples, include_citations: withCitations } = evaluation
  const schema = voteSchema(withCitations)
  const messageChars = tuning.limits.transcript_content_length
  const questionOf = (sample: number): Question => {
    const words = judgePrompt(request, { withCitations, messageChars, sample, samples })
    return { ...words, hash: contentHash([words.system, words.prompt]) }
  }
  const { asked, costUsd } = await takeSamples<GivenVote>({
    samples,
    ask: async (sample) => {
      const { hash: question, ...words } = questionOf(sample)
      const answer = await model.structured({
        ...words,
        schema,
        ...modelSettings(request),
      })
      return { ...answer, value: { kind: 'scored', question, ...answer.value } }
    },
    // Another transcript, or another word of the question, makes another question of it.
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

/** What each judge is asked for, from 1; 0 is taken too, since models use it. */
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

/** What a judge must answer. Positions of citations are not asked for: models cannot count, and they are computed. */
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

/** How every judge of an evaluation is asked: what the configuration says under `evaluation`. */
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
