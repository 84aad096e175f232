import { z } from 'zod'

const timeoutsSchema = z.strictObject({
  plugin_load_ms: whole(5_000, 120_000, 30_000).describe(
    'Time limit for Claude Code to start and load the plugin.',
  ),
  retry_initial_ms: whole(100, 10_000, 1_000).describe('Wait before the first retry of a failed call.'),
  retry_max_ms: whole(1_000, 120_000, 30_000).describe('Longest wait before a retry.'),
  sdk_token_counting_ms: refused(
    'tokens are not counted over the network; estimates come from tuning.token_estimates. Remove the key',
  ),
})

const tokenEstimatesSchema = z.strictObject({
  output_per_scenario: whole(100, 5_000, 800).describe('Tokens the model writes for one scenario.'),
  transcript_prompt: whole(500, 10_000, 3_000).describe('Tokens one judge reads.'),
  judge_output: whole(100, 2_000, 500).describe('Tokens one judge writes.'),
  input_per_turn: whole(100, 5_000, 500).describe('Tokens the agent reads per turn.'),
  output_per_turn: whole(500, 10_000, 2_000).describe('Tokens the agent writes per turn.'),
  per_skill: whole(100, 2_000, 600).describe('Tokens read to generate the scenarios of one skill.'),
  per_agent: whole(100, 3_000, 800).describe('Tokens read to generate the scenarios of one agent.'),
  per_command: whole(50, 1_000, 300).describe('Tokens read to generate the scenarios of one command.'),
  per_hook: whole(50, 1_000, 400).describe('Tokens read to generate the scenarios of one hook.'),
  per_mcp_server: whole(50, 1_000, 400).describe('Tokens read to generate the scenarios of one MCP server.'),
  semantic_gen_max_tokens: whole(500, 4_000, 1_000).describe(
    'Maximum tokens for the semantic variations of one skill.',
  ),
})

const limitsSchema = z.strictObject({
  transcript_content_length: whole(100, 2_000, 500).describe('Characters of one message that a judge sees.'),
  prompt_display_length: whole(20, 500, 80).describe('Characters of a prompt in progress and reports.'),
  progress_bar_width: whole(5, 100, 20).describe('Characters of the progress bar.'),
  conflict_domain_part_min: whole(1, 10, 4).describe(
    'Minimum length of a name part (between hyphens) by which two components count as related in a conflict.',
  ),
})

/** `tuning` of a plugin evaluation: advanced settings. */
export const tuningSchema = z.strictObject({
  timeouts: timeoutsSchema.prefault({}).describe('Waits, in milliseconds.'),
  retry: z
    .strictObject({
      max_retries: whole(0, 10, 3).describe(
        'Retries of a model call, and of a scenario that failed for infrastructure reasons.',
      ),
      backoff_multiplier: z
        .number()
        .min(1)
        .max(5)
        .default(2)
        .describe('Factor by which the wait grows with each retry.'),
      jitter_factor: z.number().min(0).max(1).default(0.1).describe('Random share of a wait.'),
    })
    .prefault({})
    .describe('Retries of temporary failures.'),
  token_estimates: tokenEstimatesSchema.prefault({}).describe('Token counts used by the cost estimate.'),
  limits: limitsSchema.prefault({}).describe('Limits of what is shown.'),
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

/** A key of the original tool that has no effect here: an error is better than silently ignoring it. */
function refused(why: string) {
  return z
    .unknown()
    .superRefine((value, context) => {
      if (value !== undefined) context.addIssue({ code: 'custom', message: `is not used: ${why}` })
    })
    .optional()
    .meta({ description: `Refused: ${why}.`, not: {} })
}
