import { z } from 'zod'
import { optionalText, text } from '../core/schema.ts'
import { guardSchema } from './guard-schema.ts'

/** A variant of an agent. All keys besides these are keys of the agent, and replace its own. */
export const armSchema = z
  .object({
    agent: text('The agent that it varies: a name under `agents`, or the name of a driver.'),
    model: z.string().min(1).optional().describe('The model of this arm. Default: that of --model.'),
    overlay: optionalText(
      'Directory whose files are laid over the template of every case, relative to this file.',
    ),
    guard: z
      .union([z.boolean(), guardSchema])
      .default(false)
      .describe("Whether the agent works with the guard's hooks; settings of the guard, if wanted."),
    env: z
      .record(z.string().min(1), z.string())
      .optional()
      .describe('Variables that are added to those of the agent.'),
  })
  .catchall(z.json())

export type ArmConfig = z.output<typeof armSchema>
