import { z } from 'zod'

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
export function voteSchema(withCitations: boolean): z.ZodType<VoteAnswer> {
  return withCitations ? citingSchema : plainSchema
}

export type VoteAnswer = z.output<typeof plainSchema> & {
  readonly highlights?: readonly z.output<typeof citationSchema>[]
}
