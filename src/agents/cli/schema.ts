import { z } from 'zod'
import { modelKeys } from '../model-keys.ts'
import { placeKeys } from '../place-keys.ts'

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
    'Variables of the caller that the program gets too, besides those by which it is let in.',
  ),
  ...modelKeys,
} as const
