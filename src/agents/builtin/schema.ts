import { z } from 'zod'
import { modelKeys, placeKeys } from '../agent-keys.ts'

/** Our own agent: a loop around a model and six tools. */
export const builtinAgentSchema = z.strictObject({
  driver: z
    .literal('builtin')
    .describe(
      'A small agent of Gantry itself: it reads, lists, searches, writes, edits and runs. An API key is enough.',
    ),
  model: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The model as provider:model, used when a run names none. Default: by the keys that are set; a custom endpoint before Anthropic before OpenAI.',
    ),
  instructions: z.string().min(1).optional().describe('Put behind the system prompt.'),
  max_turns: z.int().positive().optional().describe('Answers of the model, at most. Default 50.'),
  ...placeKeys,
  env: placeKeys.env.describe(
    `Environment of its commands. $\{NAME} in a value is replaced by the variable of the caller.`,
  ),
  inherit_env: placeKeys.inherit_env.describe(
    'Variables of the caller that its commands get too, besides those by which the model is reached.',
  ),
  ...modelKeys,
})

export type BuiltinAgentConfig = z.output<typeof builtinAgentSchema>
