import { z } from 'zod'

/** Keys of gantry.yaml about the model behind an agent, for every agent that has one. */
export const modelKeys = {
  model_script: z
    .string()
    .min(1)
    .optional()
    .describe(
      'A boundary script that answers in place of the model: the agent and its tools are real, the model is this file. Relative to this file.',
    ),
  meter: z
    .enum(['auto', 'always', 'never'])
    .default('auto')
    .describe(
      'Whether tokens and cost are counted on the way to the provider. auto: when the agent does not tell its cost itself and its API key is in the environment.',
    ),
}
