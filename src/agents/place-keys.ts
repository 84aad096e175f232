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
