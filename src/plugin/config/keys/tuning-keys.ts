import { z } from 'zod'

const timeoutsSchema = z.strictObject({
  plugin_load_ms: whole(5_000, 120_000, 30_000).describe('For Claude Code to start and to load the plugin.'),
  retry_initial_ms: whole(100, 10_000, 1_000).describe('Before the first retry of a call that failed.'),
  retry_max_ms: whole(1_000, 120_000, 30_000).describe('Longest wait before a retry.'),
  sdk_token_counting_ms: refused(
    'tokens are not counted over the network here: estimates come from tuning.token_estimates. Remove the key',
  ),
})

const tokenEstimatesSchema = z.strictObject({
  output_per_scenario: whole(100, 5_000, 800).describe('Written by the model for one scenario.'),
  transcript_prompt: whole(500, 10_000, 3_000).describe('Read by one judge.'),
  judge_output: whole(100, 2_000, 500).describe('Written by one judge.'),
  input_per_turn: whole(100, 5_000, 500).describe('Read by the agent per turn.'),
  output_per_turn: whole(500, 10_000, 2_000).describe('Written by the agent per turn.'),
  per_skill: whole(100, 2_000, 600).describe('Read when scenarios of one skill are written.'),
  per_agent: whole(100, 3_000, 800).describe('Read when scenarios of one agent are written.'),
  per_command: whole(50, 1_000, 300).describe('Read when scenarios of one command are written.'),
  per_hook: whole(50, 1_000, 400).describe('Read when scenarios of one hook are written.'),
  per_mcp_server: whole(50, 1_000, 400).describe('Read when scenarios of one MCP server are written.'),
  semantic_gen_max_tokens: whole(500, 4_000, 1_000).describe(
    'Most that the model may write for the semantic variations of one skill.',
  ),
})

const limitsSchema = z.strictObject({
  transcript_content_length: whole(100, 2_000, 500).describe('Characters of one message that a judge sees.'),
  prompt_display_length: whole(20, 500, 80).describe('Characters of a prompt in progress and reports.'),
  progress_bar_width: whole(5, 100, 20).describe('Characters of the progress bar.'),
  conflict_domain_part_min: whole(1, 10, 4).describe(
    'Shortest part of a name, between hyphens, by which two components count as related when a conflict is explained.',
  ),
})

/** `tuning` of a plugin evaluation: what works as it is for nearly everybody. */
export const tuningSchema = z.strictObject({
  timeouts: timeoutsSchema.prefault({}).describe('Waits, in milliseconds.'),
  retry: z
    .strictObject({
      max_retries: whole(0, 10, 3).describe('Of a call of a model, and of a scenario whose machinery broke.'),
      backoff_multiplier: z
        .number()
        .min(1)
        .max(5)
        .default(2)
        .describe('How the wait grows from retry to retry.'),
      jitter_factor: z
        .number()
        .min(0)
        .max(1)
        .default(0.1)
        .describe('Share of a wait that is left to chance.'),
    })
    .prefault({})
    .describe('How failures that may pass are tried again.'),
  token_estimates: tokenEstimatesSchema
    .prefault({})
    .describe('Tokens that the estimate of the cost reckons with.'),
  limits: limitsSchema.prefault({}).describe('How much of something is shown.'),
  batching: z
    .strictObject({
      safety_margin: z
        .number()
        .min(0.5)
        .max(1)
        .default(0.75)
        .describe("Share of the provider's limits up to which a message batch is filled."),
    })
    .prefault({})
    .describe('Message batches of the judge.'),
})

function whole(min: number, max: number, initial: number) {
  return z.int().min(min).max(max).default(initial)
}

/** A key of the original tool that could have no effect here: to take it and do nothing would be a lie. */
function refused(why: string) {
  return z
    .unknown()
    .superRefine((value, context) => {
      if (value !== undefined) context.addIssue({ code: 'custom', message: `is not used: ${why}` })
    })
    .optional()
    .meta({ description: `Refused: ${why}.`, not: {} })
}
