import { z } from 'zod'
import type { Preferred } from '../core/stats/preference.ts'
import { sha256 } from '../io/sha256.ts'
import type { Model, ModelAnswer, ModelFailure } from '../models/contract.ts'
import { judgeOutputTokens } from './judge.ts'
import { type JudgeContext, pairPrompt } from './prompt.ts'
import type { Rubric } from './rubric.ts'
import { isFailed, type SampleCheckpoint, takeSamples } from './take-samples.ts'

export interface PairRequest {
  readonly model: Model
  readonly rubric: Rubric
  /** Two answers to the same task. */
  readonly answers: readonly [before: JudgeContext, after: JudgeContext]
  /** Per order. */
  readonly samples: number
  readonly signal: AbortSignal
  readonly checkpoint: SampleCheckpoint<PairSample>
}

/** One answer of the judge. */
export interface PairSample {
  readonly kind: 'preferred'
  readonly shown_first: 'before' | 'after'
  readonly winner: Preferred
  readonly reason: string
  /** Hash of the question. */
  readonly question: string
}

export type PairJudgement =
  | {
      readonly kind: 'compared'
      /** Who won when the earlier one was shown first, and when the later one was. */
      readonly orders: readonly [Preferred, Preferred]
      readonly samples: readonly PairSample[]
      readonly costUsd: number | null
    }
  | {
      /** An order without an answer. That says nothing about the pair. */
      readonly kind: 'unavailable'
      readonly message: string
      readonly reason: ModelFailure['reason']
      readonly costUsd: number | null
    }

const answerSchema = z.object({ winner: z.enum(['A', 'B', 'tie']), reason: z.string() })

/** Asks a model which of two answers is better, in both orders. Throws only for an interruption. */
export async function comparePair(request: PairRequest): Promise<PairJudgement> {
  const { model, rubric, answers, samples, signal, checkpoint } = request
  const [before, after] = answers
  const questions = [pairPrompt(rubric, [before, after]), pairPrompt(rubric, [after, before])] as const
  const questionOf = (sample: number) => (sample % 2 === 0 ? questions[0] : questions[1])
  const { asked, costUsd } = await takeSamples<PairSample>({
    samples: 2 * samples,
    ask: async (sample): Promise<ModelAnswer<PairSample>> => {
      const question = questionOf(sample)
      const answer = await model.structured({
        ...question,
        schema: answerSchema,
        maxOutputTokens: judgeOutputTokens,
        ...(samples === 1 && { temperature: 0 }),
        signal,
      })
      const { winner, reason } = answer.value
      const shown = sample % 2 === 0 ? (['before', 'after'] as const) : (['after', 'before'] as const)
      return {
        ...answer,
        value: {
          kind: 'preferred',
          shown_first: shown[0],
          winner: winner === 'tie' ? 'tie' : shown[winner === 'A' ? 0 : 1],
          reason,
          question: sha256(question.prompt),
        },
      }
    },
    fits: ({ question }, sample) => question === sha256(questionOf(sample).prompt),
    checkpoint,
  })
  const given = asked.flatMap(({ result }) => (isFailed(result) ? [] : [result]))
  const [first, second] = (['before', 'after'] as const).map((shown) =>
    given.filter(({ shown_first }) => shown_first === shown),
  )
  if (first?.length && second?.length)
    return { kind: 'compared', orders: [mostOf(first), mostOf(second)], samples: given, costUsd }
  const failed = asked.find(({ reason }) => reason !== null)
  const why = failed?.result.kind === 'error' ? failed.result.message : 'it was not asked'
  return {
    kind: 'unavailable',
    message: `the judge ${model.name} gave no usable answer: ${why}`,
    reason: failed?.reason ?? 'unavailable',
    costUsd,
  }
}

function mostOf(samples: readonly PairSample[]): Preferred {
  const votes = (who: Preferred): number => samples.filter(({ winner }) => winner === who).length
  const lead = votes('after') - votes('before')
  return lead === 0 ? 'tie' : lead > 0 ? 'after' : 'before'
}
