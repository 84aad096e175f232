import { z } from 'zod'

const path = z.string().min(1)
const modelName = z
  .string()
  .min(1)
  .default('default')
  .describe('`default`, `provider:model`, or the name of a model of Anthropic.')
const effort = z.enum(['none', 'low', 'medium', 'high'])
const perSecond = z.number().min(0.1).max(100).optional()
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
  requests_per_second: perSecond.describe('Default: no limit.'),
  api_timeout_ms: apiTimeout.default(60_000).describe('For one answer.'),
  temperature: temperature.default(0.3),
})

const sandboxSchema = z
  .strictObject({
    enabled: z.boolean(),
    auto_allow_bash_if_sandboxed: z.boolean().optional(),
    allow_unsandboxed_commands: z.boolean().optional(),
    network: z
      .strictObject({
        allowed_domains: z.array(z.string().min(1)).optional(),
        allow_unix_sockets: z.array(z.string().min(1)).optional(),
        allow_all_unix_sockets: z.boolean().optional(),
        allow_local_binding: z.boolean().optional(),
        http_proxy_port: z.int().min(1).max(65_535).optional(),
        socks_proxy_port: z.int().min(1).max(65_535).optional(),
      })
      .optional(),
    ignore_violations: z.record(z.string(), z.array(z.string())).optional(),
    enable_weaker_nested_sandbox: z.boolean().optional(),
    excluded_commands: z.array(z.string().min(1)).optional(),
    ripgrep: z.strictObject({ command: z.string().min(1), args: z.array(z.string()).optional() }).optional(),
  })
  .describe("Claude Code's own sandbox for commands, in its own words. `enabled` must be said.")

const executionSchema = z.strictObject({
  agent: z
    .string()
    .min(1)
    .default('claude-code')
    .describe('An agent of gantry.yaml, or `claude-code`. Its driver must be claude-code.'),
  model: modelName,
  max_turns: z.int().min(1).max(20).default(5).describe('Answers of the model per scenario.'),
  timeout_ms: z.int().min(5_000).max(300_000).default(60_000).describe('Per scenario.'),
  max_budget_usd: z.number().min(0.1).max(1_000).default(10).describe('For the whole run, all stages.'),
  session_isolation: z
    .boolean()
    .optional()
    .describe('Deprecated: `true` is session_strategy isolated. session_strategy wins.'),
  session_strategy: z
    .enum(['isolated', 'batched_by_component'])
    .optional()
    .describe(
      'batched_by_component (default): one live session for all scenarios of a component, cleared between them. isolated: a fresh one for each.',
    ),
  permission_bypass: z
    .boolean()
    .default(true)
    .describe('false: tools that need a permission are denied unless they are allowed.'),
  allowed_tools: z.array(z.string().min(1)).default([]).describe('Tools that need no permission.'),
  disallowed_tools: z
    .array(z.string().min(1))
    .default(['Write', 'Edit', 'Bash'])
    .describe(
      'Tools the agent does not have. A scenario of a hook that is about one of them has it nevertheless.',
    ),
  num_reps: z.int().min(1).max(10).default(1).describe('How often each scenario is tried.'),
  additional_plugins: z.array(path).default([]).describe('Further plugins, for the arm `crowd`.'),
  arms: z
    .array(z.enum(['without', 'alone', 'crowd']))
    .min(1)
    .optional()
    .describe('Default: alone; and crowd when there are further plugins.'),
  requests_per_second: perSecond.describe('Scenarios begun per second. Default: no limit.'),
  max_thinking_tokens: z.int().min(100).max(100_000).optional(),
  timeout_strategy: z.enum(['interrupt_first', 'abort_only']).default('interrupt_first'),
  interrupt_grace_ms: z.int().min(1_000).max(60_000).default(10_000),
  sandbox: sandboxSchema.optional(),
  env: z.record(z.string(), z.string()).default({}).describe('Variables of the agent.'),
  cwd: path.optional().describe('A directory; the agent works in a copy of it. Default: an empty one.'),
  additional_directories: z.array(path).default([]).describe('Further directories the agent may read.'),
})

const evaluationSchema = z.strictObject({
  model: modelName,
  max_tokens: z.int().min(1_000).max(16_000).default(4_000),
  detection_mode: z
    .enum(['programmatic_first', 'llm_only'])
    .default('programmatic_first')
    .describe('llm_only: the judge decides for every scenario.'),
  reasoning_effort: effort.default('low'),
  num_samples: z.int().min(1).max(5).default(1).describe('Judges per scenario.'),
  aggregate_method: z.enum(['average', 'median', 'consensus']).default('average'),
  include_citations: z.boolean().default(true),
  api_timeout_ms: apiTimeout.default(120_000),
  temperature: temperature.default(0.1),
})

const outputSchema = z.strictObject({
  format: z.enum(['json', 'yaml', 'junit-xml', 'tap', 'md', 'html']).default('json'),
  include_cli_summary: z.boolean().default(true).describe('The summary for people at the end.'),
  junit_test_suite_name: z.string().min(1).default('gantry-plugin'),
  sanitize_transcripts: z.boolean().default(false),
  sanitize_logs: z.boolean().default(false),
  sanitization: z
    .strictObject({
      enabled: z.boolean().default(false),
      custom_patterns: z
        .array(z.strictObject({ pattern: z.string().min(1), replacement: z.string().min(1) }))
        .default([]),
      pattern_safety_acknowledged: z.boolean().default(false),
      max_input_length: z.int().min(1_000).max(10_000_000).default(100_000),
      pattern_fuzz_timeout_ms: z.int().min(10).max(1_000).default(50),
    })
    .prefault({}),
})

const tuningSchema = z.strictObject({
  timeouts: z
    .strictObject({
      plugin_load_ms: z.int().min(5_000).max(120_000).default(30_000),
      retry_initial_ms: z.int().min(100).max(10_000).default(1_000),
      retry_max_ms: z.int().min(1_000).max(120_000).default(30_000),
      sdk_token_counting_ms: z.int().min(5_000).max(120_000).default(30_000),
    })
    .prefault({}),
  retry: z
    .strictObject({
      max_retries: z.int().min(0).max(10).default(3),
      backoff_multiplier: z.number().min(1).max(5).default(2),
      jitter_factor: z.number().min(0).max(1).default(0.1),
    })
    .prefault({}),
  token_estimates: z
    .strictObject({
      output_per_scenario: z.int().min(100).max(5_000).default(800),
      transcript_prompt: z.int().min(500).max(10_000).default(3_000),
      judge_output: z.int().min(100).max(2_000).default(500),
      input_per_turn: z.int().min(100).max(5_000).default(500),
      output_per_turn: z.int().min(500).max(10_000).default(2_000),
      per_skill: z.int().min(100).max(2_000).default(600),
      per_agent: z.int().min(100).max(3_000).default(800),
      per_command: z.int().min(50).max(1_000).default(300),
      per_hook: z.int().min(50).max(1_000).default(400),
      per_mcp_server: z.int().min(50).max(1_000).default(400),
      semantic_gen_max_tokens: z.int().min(500).max(4_000).default(1_000),
    })
    .prefault({}),
  limits: z
    .strictObject({
      transcript_content_length: z.int().min(100).max(2_000).default(500),
      prompt_display_length: z.int().min(20).max(500).default(80),
      progress_bar_width: z.int().min(5).max(100).default(20),
      conflict_domain_part_min: z.int().min(1).max(10).default(4),
    })
    .prefault({}),
  batching: z.strictObject({ safety_margin: z.number().min(0.5).max(1).default(0.75) }).prefault({}),
})

/** Every key of an evaluation's configuration; `plugin:` of gantry.yaml has the same ones. */
export const pluginConfigSchema = z.strictObject({
  plugin: z
    .strictObject({ path: path.describe('Directory of the plugin.'), name: z.string().min(1).optional() })
    .optional(),
  marketplace: z
    .strictObject({ path, evaluate_all: z.boolean().default(false) })
    .optional()
    .describe('A marketplace file or its directory; its plugins are the crowd, or all evaluated.'),
  scope: z
    .strictObject({
      skills: z.boolean().default(true),
      agents: z.boolean().default(true),
      commands: z.boolean().default(true),
      hooks: z.boolean().default(false),
      mcp_servers: z.boolean().default(false),
    })
    .prefault({}),
  generation: generationSchema.prefault({}),
  execution: executionSchema.prefault({}),
  evaluation: evaluationSchema.prefault({}),
  output: outputSchema.prefault({}),
  scenarios: z
    .array(path)
    .default([])
    .describe('Files with hand-written scenarios; merged with what is generated.'),
  cases: z.boolean().default(true).describe("Cases in the plugin's evals/ take part."),
  resume: z
    .strictObject({
      run_id: z.string().min(1),
      from_stage: z.enum(['analysis', 'generation', 'execution', 'evaluation']).optional(),
    })
    .optional(),
  fast_mode: z
    .strictObject({ enabled: z.boolean().default(false), failed_run_id: z.string().min(1).optional() })
    .prefault({}),
  mcp_servers: z
    .strictObject({
      skip_auth_required: z.boolean().default(true),
      connection_timeout_ms: z.int().min(1_000).max(60_000).default(10_000),
    })
    .prefault({}),
  conflict_detection: z
    .strictObject({ enabled: z.boolean().default(true), cross_plugin: z.boolean().default(false) })
    .prefault({}),
  tuning: tuningSchema.prefault({}),
  dry_run: z.boolean().default(false),
  estimate_costs: z.boolean().default(true),
  batch_threshold: z.int().min(1).default(50),
  force_synchronous: z.boolean().default(false),
  poll_interval_ms: z.int().min(1_000).default(30_000),
  batch_timeout_ms: z.int().min(60_000).max(86_400_000).default(1_800_000),
  rewind_file_changes: z.boolean().default(false),
  debug: z.boolean().default(false),
  verbose: z.boolean().default(false),
  max_concurrent: z.int().min(1).max(50).default(10),
})

export type PluginConfig = z.output<typeof pluginConfigSchema>
