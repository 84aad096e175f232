import { z } from 'zod'

/** What is kept with a task in the queue besides its text: how it is to be done. */
export const taskOptionsSchema = z.object({
  agent: z.string().min(1).default('builtin'),
  /** `provider:model`, for Scouts, strategies and the builtin agent. */
  model: z.string().min(1).default('default'),
  /** For an agent that names models in its own way. */
  agent_model: z.string().min(1).optional(),
  sandbox: z.enum(['auto', 'docker', 'bubblewrap', 'host']).default('auto'),
  max_cost_usd: z.number().positive().optional(),
  edit_timeout_ms: z.number().positive().optional(),
  /** Path of a gantry.yaml instead of the one found upward. */
  config_file: z.string().optional(),
  /** Run directory of the dry run whose proposal is applied. */
  proposal_of: z.string().optional(),
  /** Goes on from the stuck report. */
  retry: z.boolean().default(false),
})

export type TaskOptions = z.output<typeof taskOptionsSchema>
