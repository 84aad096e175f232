import { z } from 'zod'
import { modelKeys } from '../model-keys.ts'

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
  env: z
    .record(z.string().min(1), z.string())
    .default({})
    .describe(`Environment of the program. $\{NAME} in a value is replaced by the variable of the caller.`),
  inherit_env: z
    .array(z.string().min(1))
    .default([])
    .describe('Variables of the caller that the program gets too, besides those by which it is let in.'),
  home: z
    .enum(['isolated', 'host'])
    .default('isolated')
    .describe(
      'isolated: an empty HOME per trial. host: the HOME of the caller, with all settings and logins in it.',
    ),
  models: z.array(z.string().min(1)).default([]).describe('Models this agent may be run with. Empty: any.'),
  ...modelKeys,
} as const
