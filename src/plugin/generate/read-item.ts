import { z } from 'zod'

const text = z.string().trim().optional().catch(undefined)

/** A value that is a text, wherever the model put it. */
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

/** One scenario as a model wrote it: fields that are not what they should be are absent. */
export type Item = Omit<z.output<typeof itemSchema>, 'component_ref' | 'expected_component'> & {
  /** Which component it says it is about. */
  readonly component: string | undefined
}

export function readItem(raw: Readonly<Record<string, unknown>>): Item {
  const { component_ref, expected_component, ...item } = itemSchema.parse(raw)
  return { ...item, component: filled(expected_component) ?? filled(component_ref) }
}

function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}
