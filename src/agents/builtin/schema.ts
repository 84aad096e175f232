import { z } from 'zod'
import { optionalText } from '../../core/schema.ts'
import { modelKeys, placeKeys } from '../cli-agent-shape.ts'

/** Gantry's own agent: a loop around a model and six tools. */
export const builtinAgentSchema = z.strictObject({
  driver: z
    .literal('builtin')
    .describe(
      "Gantry's own small agent: it reads, lists, searches, writes, edits and runs. It needs only an API key.",
    ),
  model: optionalText(
    'The model as provider:model, used when a run names none. Default: by the keys that are set; a custom endpoint before Anthropic before OpenAI.',
  ),
  instructions: z.string().min(1).optional().describe('Appended to the system prompt.'),
  max_turns: z.int().positive().optional().describe('Maximum number of model answers. Default 50.'),
  ...placeKeys,
  env: placeKeys.env.describe(
    `Environment of its commands. $\{NAME} in a value is replaced by the variable of the caller.`,
  ),
  inherit_env: placeKeys.inherit_env.describe(
    'Variables of the caller to pass to its commands, in addition to those for model access.',
  ),
  ...modelKeys,
})

export type BuiltinAgentConfig = z.output<typeof builtinAgentSchema>
