import type { PluginConfig } from '../../../config/plugin-schema.ts'
import { contentHash } from '../../../io/content-hash.ts'
import { isFailed, type SampleCheckpoint, takeSamples } from '../../../judge/take-samples.ts'
import type { Model } from '../../../models/contract.ts'
import type { JudgeVote, PluginJudgement } from '../contract.ts'
import { checkCitations } from './check-citations.ts'
import { joinVotes } from './join-votes.ts'
import { type JudgedTrial, judgePrompt } from './judge-prompt.ts'
import { type AskingPowers, modelSettings } from './model-settings.ts'
import { type VoteAnswer, voteSchema } from './vote-schema.ts'

export interface JudgeTrialRequest extends JudgedTrial, AskingPowers {
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
