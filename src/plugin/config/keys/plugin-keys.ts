import { z } from 'zod'
import { executionSchema, modelName, path, perSecond } from './execution-keys.ts'
import { tuningSchema } from './tuning-keys.ts'

const effort = z.enum(['none', 'low', 'medium', 'high'])
const apiTimeout = z.int().min(5_000).max(300_000)
const temperature = z.number().min(0).max(1)

const generationSchema = z.strictObject({
  model: modelName,
  scenarios_per_component: z
    .int()
    .min(1)
    .max(20)
    .default(5)
    .describe('Scenarios for each skill and each agent.'),
  diversity: z
    .number()
    .min(0)
    .max(1)
    .default(0.7)
    .describe('1: every scenario has its own idea; lower: fewer ideas, each in several variations.'),
  max_tokens: z.int().min(1_000).max(32_000).default(8_000).describe('Maximum tokens of one response.'),
  reasoning_effort: effort.default('medium').describe('How much the model thinks before it answers.'),
  semantic_variations: z.boolean().default(true).describe('Generate scenarios of type semantic for skills.'),
  requests_per_second: perSecond.describe('Calls started per second. Default: no limit.'),
  api_timeout_ms: apiTimeout.default(60_000).describe('Time limit for one response.'),
  temperature: temperature.default(0.3).describe('Temperature of the model that writes scenarios.'),
})

const evaluationSchema = z.strictObject({
  model: modelName,
  max_tokens: z.int().min(1_000).max(16_000).default(4_000).describe('Maximum tokens of one response.'),
  detection_mode: z
    .enum(['programmatic_first', 'llm_only'])
    .default('programmatic_first')
    .describe(
      'programmatic_first: the judge decides only where the captures do not. llm_only: the judge decides for every scenario.',
    ),
  reasoning_effort: effort.default('low').describe('How much the judge thinks before it answers.'),
  num_samples: z.int().min(1).max(5).default(1).describe('Number of judges per scenario.'),
  aggregate_method: z
    .enum(['average', 'median', 'consensus'])
    .default('average')
    .describe('How the scores of several judges are combined; consensus: the most frequent score.'),
  include_citations: z
    .boolean()
    .default(true)
    .describe('Judges cite the transcript, and the citations are checked.'),
  api_timeout_ms: apiTimeout.default(120_000).describe('Time limit for one response.'),
  temperature: temperature.default(0.1).describe('Temperature of the judge.'),
})

const sanitizationSchema = z.strictObject({
  enabled: z
    .boolean()
    .default(false)
    .describe(
      'Hide e-mail addresses, US phone and social security numbers and card numbers. Secrets are always hidden.',
    ),
  custom_patterns: z
    .array(
      z.strictObject({
        pattern: z.string().min(1).describe('RE2: linear time, no lookaround and no backreferences.'),
        replacement: z.string().min(1).describe('The replacement; `$1` is a group, `$&` the match.'),
      }),
    )
    .default([])
    .describe('Additional patterns to hide, applied after the built-in ones.'),
  pattern_safety_acknowledged: z
    .boolean()
    .default(false)
    .describe('Skip the check for patterns that are slow in a backtracking engine.'),
  max_input_length: z
    .int()
    .min(1_000)
    .max(10_000_000)
    .default(100_000)
    .describe('A longer text is replaced entirely by [REDACTED_OVERSIZED_CONTENT].'),
  pattern_fuzz_timeout_ms: z
    .int()
    .min(10)
    .max(1_000)
    .default(50)
    .describe('Time limit of a pattern for each text it is tested on.'),
})

const outputSchema = z.strictObject({
  format: z
    .enum(['json', 'yaml', 'junit-xml', 'tap', 'md', 'html'])
    .default('json')
    .describe('Format of the report.'),
  include_cli_summary: z.boolean().default(true).describe('Print a summary at the end.'),
  junit_test_suite_name: z
    .string()
    .min(1)
    .default('gantry-plugin')
    .describe('Name of the test suite in JUnit XML.'),
  sanitize_transcripts: z
    .boolean()
    .default(false)
    .describe('Apply sanitization to transcripts, tool inputs, captures and citations.'),
  sanitize_logs: z.boolean().default(false).describe('Apply sanitization to progress and logs.'),
  sanitization: sanitizationSchema.prefault({}).describe('What is hidden in addition to secrets.'),
})

/** Every key by itself. Rules across keys are in schema.ts. */
export const pluginKeysSchema = z.strictObject({
  plugin: z
    .strictObject({
      path: path.optional().describe('Directory of the plugin.'),
      name: z
        .string()
        .min(1)
        .optional()
        .describe('Expected name in the manifest. With a marketplace and no path: the plugin to evaluate.'),
    })
    .optional()
    .describe('The plugin under test. A command-line argument takes precedence.'),
  marketplace: z
    .strictObject({
      path: path.describe('A marketplace file or its directory.'),
      evaluate_all: z
        .boolean()
        .default(false)
        .describe('Evaluate every plugin of the marketplace, one after the other.'),
    })
    .optional()
    .describe(
      'A marketplace. Its plugins are installed beside the one under test (arm crowd), or are all evaluated.',
    ),
  scope: z
    .strictObject({
      skills: z.boolean().default(true).describe('Evaluate skills.'),
      agents: z.boolean().default(true).describe('Evaluate agents.'),
      commands: z.boolean().default(true).describe('Evaluate commands.'),
      hooks: z.boolean().default(false).describe('Evaluate hooks.'),
      mcp_servers: z.boolean().default(false).describe('Evaluate MCP servers.'),
    })
    .prefault({})
    .describe('Which types of components are evaluated.'),
  generation: generationSchema.prefault({}).describe('Stage 2: generate scenarios.'),
  execution: executionSchema.prefault({}).describe('Stage 3: run the scenarios in Claude Code.'),
  evaluation: evaluationSchema
    .prefault({})
    .describe('Stage 4: detect which components fired and judge the responses.'),
  output: outputSchema.prefault({}).describe('Reports, and what is hidden in them.'),
  scenarios: z
    .array(path)
    .default([])
    .describe('Files with hand-written scenarios, merged with the generated ones.'),
  cases: z.boolean().default(true).describe("Include the cases in the plugin's evals/ directory."),
  resume: z
    .strictObject({
      run_id: z.string().min(1).describe('The run to resume.'),
      from_stage: z
        .enum(['analysis', 'generation', 'execution', 'evaluation'])
        .optional()
        .describe('The stage to resume from. Default: where the run stopped.'),
    })
    .optional()
    .describe('Resume an earlier run.'),
  fast_mode: z
    .strictObject({
      enabled: z
        .boolean()
        .default(false)
        .describe('Run only the failures of an earlier run. Needs failed_run_id.'),
      failed_run_id: z.string().min(1).optional().describe('The earlier run. Needs enabled.'),
    })
    .prefault({})
    .describe('Repeat the failures of an earlier run.'),
  mcp_servers: z
    .strictObject({
      skip_auth_required: z.boolean().default(true).describe('Skip servers that need credentials.'),
      connection_timeout_ms: z
        .int()
        .min(1_000)
        .max(60_000)
        .default(10_000)
        .describe('Time limit for a server to answer; a server that does not answer is skipped.'),
    })
    .prefault({})
    .describe('MCP servers of the plugin.'),
  conflict_detection: z
    .strictObject({
      enabled: z
        .boolean()
        .default(true)
        .describe('Report components that fired in addition to or instead of the expected one.'),
      cross_plugin: z
        .boolean()
        .default(false)
        .describe('Also report components of other plugins and of the CLI itself.'),
    })
    .prefault({})
    .describe('Components that conflict with each other.'),
  tuning: tuningSchema
    .prefault({})
    .describe('Advanced settings. The defaults are right for nearly all evaluations.'),
  dry_run: z.boolean().default(false).describe('Stop after the cost estimate.'),
  estimate_costs: z.boolean().default(true).describe('Estimate the cost before spending anything.'),
  batch_threshold: z
    .int()
    .min(1)
    .default(50)
    .describe('Minimum number of judge calls for which message batches are used.'),
  force_synchronous: z.boolean().default(false).describe('Never use message batches.'),
  poll_interval_ms: z
    .int()
    .min(1_000)
    .default(30_000)
    .describe('Time between two checks of a message batch.'),
  batch_timeout_ms: z
    .int()
    .min(60_000)
    .max(86_400_000)
    .default(1_800_000)
    .describe('Time limit of a message batch. The remaining calls are then sent one by one.'),
  rewind_file_changes: z
    .boolean()
    .default(false)
    .describe('Restore changed files after each scenario instead of creating a new workspace.'),
  debug: z.boolean().default(false).describe('Keep and show diagnostic details.'),
  verbose: z.boolean().default(false).describe('Show the progress of every scenario.'),
  max_concurrent: z
    .int()
    .min(1)
    .max(50)
    .default(10)
    .describe('Maximum number of calls and sessions at the same time.'),
})

export type PluginConfig = z.output<typeof pluginKeysSchema>
