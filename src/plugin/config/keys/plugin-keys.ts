import { z } from 'zod'
import { executionSchema, modelName, path, perSecond } from './execution-keys.ts'
import { tuningSchema } from './tuning-keys.ts'

const effort = z.enum(['none', 'low', 'medium', 'high'])
const apiTimeout = z.int().min(5_000).max(300_000)
const temperature = z.number().min(0).max(1)

const generationSchema = z.strictObject({
  model: modelName,
  scenarios_per_component: z.int().min(1).max(20).default(5).describe('For each skill and each agent.'),
  diversity: z
    .number()
    .min(0)
    .max(1)
    .default(0.7)
    .describe('1: every scenario has an idea of its own; lower: fewer ideas, each in several variations.'),
  max_tokens: z.int().min(1_000).max(32_000).default(8_000).describe('Of one answer.'),
  reasoning_effort: effort.default('medium').describe('How much the model thinks before it writes.'),
  semantic_variations: z.boolean().default(true).describe('Scenarios of type semantic for skills.'),
  requests_per_second: perSecond.describe('Calls begun per second. Default: no limit.'),
  api_timeout_ms: apiTimeout.default(60_000).describe('For one answer.'),
  temperature: temperature.default(0.3).describe('Of the model that writes scenarios.'),
})

const evaluationSchema = z.strictObject({
  model: modelName,
  max_tokens: z.int().min(1_000).max(16_000).default(4_000).describe('Of one answer.'),
  detection_mode: z
    .enum(['programmatic_first', 'llm_only'])
    .default('programmatic_first')
    .describe(
      'programmatic_first: the judge is asked where captures do not decide. llm_only: the judge decides for every scenario.',
    ),
  reasoning_effort: effort.default('low').describe('How much the judge thinks before it answers.'),
  num_samples: z.int().min(1).max(5).default(1).describe('Judges per scenario.'),
  aggregate_method: z
    .enum(['average', 'median', 'consensus'])
    .default('average')
    .describe('How the scores of several judges become one; consensus: the score most of them gave.'),
  include_citations: z
    .boolean()
    .default(true)
    .describe('Judges cite the transcript, and the citations are checked.'),
  api_timeout_ms: apiTimeout.default(120_000).describe('For one answer.'),
  temperature: temperature.default(0.1).describe('Of the judge.'),
})

const sanitizationSchema = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe(
      'Hide e-mail addresses, US phone and social security numbers and card numbers. Secrets are hidden in any case.',
    ),
  custom_patterns: z
    .array(
      z.strictObject({
        pattern: z.string().min(1).describe('RE2: linear time, no lookaround and no backreferences.'),
        replacement: z
          .string()
          .min(1)
          .describe('What stands there instead; `$1` is a group, `$&` the match.'),
      }),
    )
    .default([])
    .describe('Further patterns to hide, after the built-in ones.'),
  pattern_safety_acknowledged: z
    .boolean()
    .default(false)
    .describe('Skip the check whether a pattern would be slow in an engine that backtracks.'),
  max_input_length: z
    .int()
    .min(1_000)
    .max(10_000_000)
    .default(100_000)
    .describe('A longer text is replaced whole, by [REDACTED_OVERSIZED_CONTENT].'),
  pattern_fuzz_timeout_ms: z
    .int()
    .min(10)
    .max(1_000)
    .default(50)
    .describe('How long a pattern may take for each of the texts it is tried on.'),
})

const outputSchema = z.strictObject({
  format: z
    .enum(['json', 'yaml', 'junit-xml', 'tap', 'md', 'html'])
    .default('json')
    .describe('Of the report.'),
  include_cli_summary: z.boolean().default(true).describe('The summary for people at the end.'),
  junit_test_suite_name: z
    .string()
    .min(1)
    .default('gantry-plugin')
    .describe('Name of the suite in JUnit XML.'),
  sanitize_transcripts: z
    .boolean()
    .default(false)
    .describe('Apply sanitization to transcripts, tool inputs, captures and what is cited of them.'),
  sanitize_logs: z.boolean().default(false).describe('Apply sanitization to progress and logs.'),
  sanitization: sanitizationSchema.prefault({}).describe('What is hidden there beyond secrets.'),
})

/** Every key by itself; what several of them say together is checked elsewhere. */
export const pluginKeysSchema = z.strictObject({
  plugin: z
    .strictObject({
      path: path.optional().describe('Directory of the plugin.'),
      name: z
        .string()
        .min(1)
        .optional()
        .describe('Name its manifest must have; with a marketplace and no path: which of its plugins.'),
    })
    .optional()
    .describe('The plugin under test. An argument of the command wins.'),
  marketplace: z
    .strictObject({
      path: path.describe('A marketplace file, or the directory it is for.'),
      evaluate_all: z.boolean().default(false).describe('Evaluate every plugin of it, one after the other.'),
    })
    .optional()
    .describe('Its plugins are the crowd around the one under test, or are all evaluated.'),
  scope: z
    .strictObject({
      skills: z.boolean().default(true).describe('Evaluate skills.'),
      agents: z.boolean().default(true).describe('Evaluate agents.'),
      commands: z.boolean().default(true).describe('Evaluate commands.'),
      hooks: z.boolean().default(false).describe('Evaluate hooks.'),
      mcp_servers: z.boolean().default(false).describe('Evaluate MCP servers.'),
    })
    .prefault({})
    .describe('Which sorts of components are evaluated.'),
  generation: generationSchema.prefault({}).describe('Stage 2: scenarios are written.'),
  execution: executionSchema.prefault({}).describe('Stage 3: scenarios are put to Claude Code.'),
  evaluation: evaluationSchema.prefault({}).describe('Stage 4: what fired is found out and judged.'),
  output: outputSchema.prefault({}).describe('What is reported, and what is hidden in it.'),
  scenarios: z
    .array(path)
    .default([])
    .describe('Files with hand-written scenarios; merged with what is generated.'),
  cases: z.boolean().default(true).describe("Cases in the plugin's evals/ take part."),
  resume: z
    .strictObject({
      run_id: z.string().min(1).describe('The run to go on with.'),
      from_stage: z
        .enum(['analysis', 'generation', 'execution', 'evaluation'])
        .optional()
        .describe('Where to take it up. Default: where it stopped.'),
    })
    .optional()
    .describe('Go on with an earlier run.'),
  fast_mode: z
    .strictObject({
      enabled: z
        .boolean()
        .default(false)
        .describe('Run only what failed in an earlier run. Needs failed_run_id.'),
      failed_run_id: z.string().min(1).optional().describe('The earlier run. Needs enabled.'),
    })
    .prefault({})
    .describe('Repeat the failures of an earlier run.'),
  mcp_servers: z
    .strictObject({
      skip_auth_required: z.boolean().default(true).describe('Leave out servers that need credentials.'),
      connection_timeout_ms: z
        .int()
        .min(1_000)
        .max(60_000)
        .default(10_000)
        .describe('For a server to answer; one that does not is left out.'),
    })
    .prefault({})
    .describe('How MCP servers of the plugin are treated.'),
  conflict_detection: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe('Report components that fired beside or in place of the expected one.'),
      cross_plugin: z
        .boolean()
        .default(false)
        .describe('Components of other plugins, and of the CLI itself, count as conflicts too.'),
    })
    .prefault({})
    .describe('Components that get into the way of one another.'),
  tuning: tuningSchema.prefault({}).describe('What works as it is for nearly everybody.'),
  dry_run: z.boolean().default(false).describe('Stop after the estimate of the cost.'),
  estimate_costs: z.boolean().default(true).describe('Estimate the cost before anything is spent.'),
  batch_threshold: z
    .int()
    .min(1)
    .default(50)
    .describe('Calls of judges from which on message batches are used.'),
  force_synchronous: z.boolean().default(false).describe('Never use message batches.'),
  poll_interval_ms: z.int().min(1_000).default(30_000).describe('Between two looks at a message batch.'),
  batch_timeout_ms: z
    .int()
    .min(60_000)
    .max(86_400_000)
    .default(1_800_000)
    .describe('After this the rest of a message batch is asked one by one.'),
  rewind_file_changes: z
    .boolean()
    .default(false)
    .describe(
      'Put back the files a scenario changed before the next one, instead of making a fresh workspace.',
    ),
  debug: z.boolean().default(false).describe('Keep and show everything that helps to find a fault.'),
  verbose: z.boolean().default(false).describe('Show every scenario as it goes.'),
  max_concurrent: z.int().min(1).max(50).default(10).describe('Calls and sessions at the same time.'),
})

export type PluginConfig = z.output<typeof pluginKeysSchema>
