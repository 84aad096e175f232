import { z } from 'zod'

/** Keys of gantry.yaml about where an agent lives, for every agent that is a program or starts some. */
export const placeKeys = {
  env: z
    .record(z.string().min(1), z.string())
    .default({})
    .describe(`Environment of the program. $\{NAME} in a value is replaced by the variable of the caller.`),
  inherit_env: z
    .array(z.string().min(1))
    .default([])
    .describe('Variables of the caller that the program gets too, such as an API key.'),
  home: z
    .enum(['isolated', 'host'])
    .default('isolated')
    .describe(
      'isolated: an empty HOME per trial. host: the HOME of the caller, with all settings and logins in it.',
    ),
  models: z.array(z.string().min(1)).default([]).describe('Models this agent may be run with. Empty: any.'),
} as const

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
      'Whether tokens and cost are counted on the way to the provider. auto: when the agent does not report its cost and its API key is in the environment.',
    ),
}

/** The keys of gantry.yaml that every agent with a command line of its own has; to be spread into its schema. */
export const cliAgentShape = {
  binary: z
    .string()
    .min(1)
    .optional()
    .describe(
      'The program of the agent: a name on PATH, or a path, relative to this file. Default: its usual name on PATH.',
    ),
  args: z
    .array(z.string())
    .default([])
    .describe('Further arguments for the program, behind those that Gantry gives it.'),
  ...placeKeys,
  inherit_env: placeKeys.inherit_env.describe(
    'Variables of the caller that the program gets too, besides those with which it authenticates.',
  ),
  ...modelKeys,
} as const
