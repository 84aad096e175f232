import { z } from 'zod'
import { choice, optionalText, texts } from '../core/schema.ts'

/** Keys of gantry.yaml for the environment of an agent, for every agent that is a program or starts one. */
export const placeKeys = {
  env: z
    .record(z.string().min(1), z.string())
    .default({})
    .describe(`Environment of the program. $\{NAME} in a value is replaced by the variable of the caller.`),
  inherit_env: texts('Variables of the caller to pass to the program, such as an API key.'),
  home: choice(
    ['isolated', 'host'],
    'isolated',
    'isolated: an empty HOME per trial. host: the HOME of the caller, with all its settings and logins.',
  ),
  models: z.array(z.string().min(1)).default([]).describe('Models that this agent may use. Empty: any.'),
} as const

/** Keys of gantry.yaml for the model of an agent, for every agent that has one. */
export const modelKeys = {
  model_script: optionalText(
    'A boundary script that answers instead of the model: agent and tools are real. Relative to this file.',
  ),
  meter: choice(
    ['auto', 'always', 'never'],
    'auto',
    'Whether tokens and cost are counted at the boundary. auto: when the agent does not report its cost and its API key is in the environment.',
  ),
}

/** The keys of gantry.yaml that all command-line agents share; spread into their schemas. */
export const cliAgentShape = {
  binary: optionalText(
    'The program of the agent: a name on PATH, or a path, relative to this file. Default: its usual name on PATH.',
  ),
  args: z
    .array(z.string())
    .default([])
    .describe('Additional arguments for the program, after those of Gantry.'),
  ...placeKeys,
  inherit_env: placeKeys.inherit_env.describe(
    'Variables of the caller to pass to the program, in addition to those for authentication.',
  ),
  ...modelKeys,
} as const
