import { z } from 'zod'
import { type SetupMessage, scenarioTypes, semanticVariationTypes } from './contract.ts'

/** The strict schema for providers that enforce one: everything is required, nothing else is allowed. */
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

/** The schema as shown to the model, used to estimate the size of a request. */
export const answerShape = JSON.stringify(shape)

/**
 * The accepted answer: a list of objects, bare or under `scenarios`. Each is checked by itself, so one bad scenario does not
 * invalidate the others. The model sees the strict form.
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

export type GeneratedAnswer = z.output<typeof answerSchema>

const text = z.string().trim().optional().catch(undefined)

/** Every field is optional; a value of the wrong type counts as absent. */
const itemSchema = z.object({
  slot: text,
  base_id: text,
  scenario_type: text,
  user_prompt: text,
  expected_trigger: z.boolean().optional().catch(undefined),
  reasoning: text,
  original_trigger_phrase: text,
  semantic_variation_type: text,
  neighbour: text,
  component_ref: text,
  expected_component: text,
  setup_messages: z.array(z.unknown()).optional().catch(undefined),
  setup_context: text,
})

/** One scenario as written by a model. Invalid fields are absent. */
export type ModelScenario = Omit<z.output<typeof itemSchema>, 'component_ref' | 'expected_component'> & {
  /** The component it claims to be about. */
  readonly component: string | undefined
}

export function readModelScenario(raw: Readonly<Record<string, unknown>>): ModelScenario {
  const { component_ref, expected_component, ...item } = itemSchema.parse(raw)
  return { ...item, component: filled(expected_component) ?? filled(component_ref) }
}

function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}

const most = 20

const messageSchema = z.object({
  role: z.preprocess(
    (role) => (role === 'human' ? 'user' : role === 'ai' ? 'assistant' : role),
    z.enum(['user', 'assistant']),
  ),
  content: z.string().trim().min(1),
})

const messagesSchema = z.array(messageSchema).min(1).max(most)

/** The conversation before a proactive scenario; null when it is missing or does not begin with the user. */
export function setupMessages(given: unknown, context?: string): readonly SetupMessage[] | null {
  const read = messagesSchema.safeParse(given)
  if (read.success) return read.data[0]?.role === 'user' ? read.data : null
  return context === undefined || context === '' ? null : [{ role: 'user', content: context }]
}
