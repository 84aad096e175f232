import { z } from 'zod'
import { scenarioTypes } from './contract.ts'
import { semanticVariationTypes } from './semantic-variations.ts'

/** What the model is held to where a provider can hold it: everything is required, nothing else is allowed. */
const wanted = z.strictObject({
  ideas: z.array(z.strictObject({ id: z.string(), idea: z.string() })),
  scenarios: z.array(
    z.strictObject({
      slot: z.string(),
      base_id: z.string().describe('The idea.'),
      scenario_type: z.enum(scenarioTypes),
      user_prompt: z.string(),
      expected_trigger: z.boolean(),
      reasoning: z.string().describe('One sentence: why it should or should not be taken.'),
      original_trigger_phrase: z.string().nullable().describe('Of a semantic scenario, else null.'),
      semantic_variation_type: z.enum(semanticVariationTypes).nullable(),
      neighbour: z.string().nullable().describe('Of a negative of kind neighbour: its key, else null.'),
      setup_messages: z
        .array(z.strictObject({ role: z.enum(['user', 'assistant']), content: z.string() }))
        .nullable()
        .describe('Of a proactive scenario, else null.'),
    }),
  ),
})

const { $schema: _, ...shape } = z.toJSONSchema(wanted)

/** As it is shown to the model, for whoever counts what a question costs. */
export const answerShape = JSON.stringify(shape)

/**
 * What is taken of an answer: a list of objects, bare or under `scenarios`. Each of them is checked on its own, so that one bad
 * scenario does not cost the others. The model sees the strict form.
 */
export const answerSchema = z
  .preprocess(
    (answer) => (Array.isArray(answer) ? { scenarios: answer } : answer),
    z.object({
      scenarios: z.array(z.looseObject({})).min(1),
      ideas: z.array(z.looseObject({})).catch([]).default([]),
    }),
  )
  .meta(shape)

export type Answer = z.output<typeof answerSchema>
