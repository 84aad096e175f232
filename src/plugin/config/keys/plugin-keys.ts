import { z } from 'zod'

// Value types shared by several keys.

const text = z.string().min(1)
const path = z.string().min(1)

function flag(initial: boolean) {
  return z.boolean().default(initial)
}

function whole(min: number, max: number, initial: number) {
  return z.int().min(min).max(max).default(initial)
}

function within(min: number, max: number, initial: number) {
  return z.number().min(min).max(max).default(initial)
}

const modelName = text
  .default('default')
  .describe(
    '`default`, `opus`, `sonnet`, `haiku`, a version such as `sonnet-4.5`, another name of a model of Anthropic, or `provider:model`.',
  )
const perSecond = z.number().min(0.1).max(100).optional()

const switched = z.boolean().optional()
const names = z.array(text).optional()
const port = z.int().min(1).max(65_535).optional()

const networkSchema = z.strictObject({
  allowed_domains: names.describe('Hosts that commands may reach.'),
  allow_unix_sockets: names.describe('Unix sockets that commands may use, by path.'),
  allow_all_unix_sockets: switched.describe('Commands may use every Unix socket.'),
  allow_local_binding: switched.describe('Commands may listen on local ports.'),
  http_proxy_port: port.describe('Port of your own HTTP proxy.'),
  socks_proxy_port: port.describe('Port of your own SOCKS proxy.'),
})

const sandboxSchema = z.strictObject({
  enabled: z
    .boolean()
    .describe('Whether commands run in the sandbox. Required when any other key here is set.'),
  auto_allow_bash_if_sandboxed: switched.describe('Commands in the sandbox need no permission.'),
  allow_unsandboxed_commands: switched.describe('The agent may ask to run a command outside the sandbox.'),
  network: networkSchema.optional().describe('What commands in the sandbox may reach.'),
  ignore_violations: z
    .record(z.string(), z.array(z.string()))
    .optional()
    .describe('Violations that are not reported: paths by command.'),
  enable_weaker_nested_sandbox: switched.describe('Use a weaker sandbox, for runs inside a container.'),
  excluded_commands: names.describe('Commands that always run outside the sandbox.'),
  ripgrep: z
    .strictObject({
      command: text.describe('The program.'),
      args: z.array(z.string()).optional().describe('Its first arguments.'),
    })
    .optional()
    .describe('Which ripgrep the sandbox uses.'),
})

/** `execution` of a plugin evaluation: how each scenario runs in Claude Code. */
const executionKeysSchema = z.strictObject({
  agent: text
    .default('claude-code')
    .describe('An agent of gantry.yaml, or `claude-code`. Its driver must be claude-code.'),
  model: modelName.describe(
    'Model of the agent: `default` (chosen by the agent), `opus`, `sonnet`, `haiku`, a version such as `sonnet-4.5`, or a full name.',
  ),
  max_turns: whole(1, 20, 5).describe('Maximum number of model responses per scenario.'),
  timeout_ms: whole(5_000, 300_000, 60_000).describe('Time limit per scenario.'),
  max_budget_usd: within(0.1, 1_000, 10).describe('Budget of the whole run, all stages.'),
  session_isolation: z
    .boolean()
    .optional()
    .describe('Deprecated: `true` means session_strategy isolated. session_strategy takes precedence.'),
  session_strategy: z
    .enum(['isolated', 'batched_by_component'])
    .optional()
    .describe(
      'batched_by_component (default): one live session for all scenarios of a component, cleared between them. isolated: a new session for each.',
    ),
  permission_bypass: flag(true).describe(
    'false: tools that need permission are denied unless they are in allowed_tools.',
  ),
  allowed_tools: z.array(text).default([]).describe('Tools that are allowed without asking.'),
  disallowed_tools: z
    .array(z.string().min(1))
    .default(['Write', 'Edit', 'Bash'])
    .describe(
      'Tools the agent cannot use. Exceptions: a hook scenario about such a tool can use it, and a tool in allowed_tools is removed from the default list.',
    ),
  num_reps: whole(1, 10, 1).describe('How often each scenario is run.'),
  seed: z
    .int()
    .default(1)
    .describe('Seed of the order in which the arms of each scenario and repetition run.'),
  additional_plugins: z
    .array(path)
    .default([])
    .describe('Directories of additional plugins, for the arm `crowd`.'),
  arms: z
    .array(z.enum(['without', 'alone', 'crowd']))
    .min(1)
    .refine((arms) => new Set(arms).size === arms.length, 'each arm once')
    .optional()
    .describe(
      'What is installed in a trial: without the plugin, alone, or in a crowd of other plugins. Default: alone, plus crowd when there are other plugins, plus without for the cases in evals/.',
    ),
  requests_per_second: perSecond.describe('Scenarios started per second. Default: no limit.'),
  max_thinking_tokens: z
    .int()
    .min(100)
    .max(100_000)
    .optional()
    .describe('Maximum thinking tokens per response. Default: the limit of the model.'),
  timeout_strategy: z
    .enum(['interrupt_first', 'abort_only'])
    .default('interrupt_first')
    .describe(
      'interrupt_first: ask the agent to stop and kill it after interrupt_grace_ms. abort_only: kill it at once.',
    ),
  interrupt_grace_ms: whole(1_000, 60_000, 10_000).describe(
    'Time between asking the agent to stop and killing it.',
  ),
  sandbox: sandboxSchema.optional().describe("Settings of Claude Code's own sandbox for commands."),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is not a valid variable name'), z.string())
    .default({})
    .describe('Environment variables of the agent.'),
  cwd: path.optional().describe('A directory; the agent works in a copy of it. Default: an empty directory.'),
  additional_directories: z.array(path).default([]).describe('Additional directories the agent may read.'),
})

const timeoutsSchema = z.strictObject({
  plugin_load_ms: whole(5_000, 120_000, 30_000).describe(
    'Time limit for Claude Code to start and load the plugin.',
  ),
  retry_initial_ms: whole(100, 10_000, 1_000).describe('Wait before the first retry of a failed call.'),
  retry_max_ms: whole(1_000, 120_000, 30_000).describe('Longest wait before a retry.'),
  sdk_token_counting_ms: z
    .int()
    .optional()
    .describe('No effect, reported with a warning: tokens are not counted over the network.'),
})

const tokenEstimatesSchema = z.strictObject({
  output_per_scenario: whole(100, 5_000, 800).describe('Tokens the model writes for one scenario.'),
  transcript_prompt: whole(500, 10_000, 1_500).describe('Tokens one judge reads.'),
  judge_output: whole(100, 2_000, 500).describe('Tokens one judge writes.'),
  input_per_turn: whole(100, 5_000, 500).describe('Tokens the agent reads per turn.'),
  output_per_turn: whole(500, 10_000, 500).describe('Tokens the agent writes per turn.'),
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
const tuningKeysSchema = z.strictObject({
  timeouts: timeoutsSchema.prefault({}).describe('Waits, in milliseconds.'),
  retry: z
    .strictObject({
      max_retries: whole(0, 10, 3).describe(
        'Retries of a model call, and of a scenario that failed for infrastructure reasons.',
      ),
      backoff_multiplier: within(1, 5, 2).describe('Factor by which the wait grows with each retry.'),
      jitter_factor: within(0, 1, 0.1).describe('Random share of a wait.'),
    })
    .prefault({})
    .describe('Retries of temporary failures.'),
  token_estimates: tokenEstimatesSchema.prefault({}).describe('Token counts used by the cost estimate.'),
  limits: limitsSchema.prefault({}).describe('Limits of what is shown.'),
  batching: z
    .strictObject({
      safety_margin: within(0.5, 1, 0.75).describe(
        "Share of the provider's limits up to which a message batch is filled.",
      ),
    })
    .prefault({})
    .describe('Message batches of the judge.'),
})

const effort = z.enum(['none', 'low', 'medium', 'high'])
const apiTimeout = z.int().min(5_000).max(300_000)
const temperature = z.number().min(0).max(1)

const generationSchema = z.strictObject({
  model: modelName,
  scenarios_per_component: whole(1, 20, 5).describe('Scenarios for each skill and each agent.'),
  diversity: within(0, 1, 0.7).describe(
    '1: every scenario has its own idea; lower: fewer ideas, each in several variations.',
  ),
  max_tokens: whole(1_000, 32_000, 8_000).describe('Maximum tokens of one response.'),
  reasoning_effort: effort.default('medium').describe('How much the model thinks before it answers.'),
  semantic_variations: flag(true).describe('Generate scenarios of type semantic for skills.'),
  requests_per_second: perSecond.describe('Calls started per second. Default: no limit.'),
  api_timeout_ms: apiTimeout.default(60_000).describe('Time limit for one response.'),
  temperature: temperature.default(0.3).describe('Temperature of the model that writes scenarios.'),
})

const evaluationSchema = z.strictObject({
  model: modelName,
  max_tokens: whole(1_000, 16_000, 4_000).describe('Maximum tokens of one response.'),
  detection_mode: z
    .enum(['programmatic_first', 'llm_only'])
    .default('programmatic_first')
    .describe(
      'programmatic_first: the judge decides only where the captures do not. llm_only: the judge decides for every scenario.',
    ),
  reasoning_effort: effort.default('low').describe('How much the judge thinks before it answers.'),
  num_samples: whole(1, 5, 1).describe('Number of judges per scenario.'),
  aggregate_method: z
    .enum(['average', 'median', 'consensus'])
    .default('average')
    .describe('How the scores of several judges are combined; consensus: the most frequent score.'),
  include_citations: flag(true).describe('Judges cite the transcript, and the citations are checked.'),
  api_timeout_ms: apiTimeout.default(120_000).describe('Time limit for one response.'),
  temperature: temperature.default(0.1).describe('Temperature of the judge.'),
})

const sanitizationSchema = z.strictObject({
  enabled: flag(false).describe(
    'Hide e-mail addresses, US phone and social security numbers and card numbers. Secrets are always hidden.',
  ),
  custom_patterns: z
    .array(
      z.strictObject({
        pattern: text.describe('RE2: linear time, no lookaround and no backreferences.'),
        replacement: text.describe('The replacement; `$1` is a group, `$&` the match.'),
      }),
    )
    .default([])
    .describe('Additional patterns to hide, applied after the built-in ones.'),
  pattern_safety_acknowledged: flag(false).describe(
    'Skip the check for patterns that are slow in a backtracking engine.',
  ),
  max_input_length: whole(1_000, 10_000_000, 100_000).describe(
    'A longer text is replaced entirely by [REDACTED_OVERSIZED_CONTENT].',
  ),
  pattern_fuzz_timeout_ms: whole(10, 1_000, 50).describe(
    'Time limit of a pattern for each text it is tested on.',
  ),
})

const outputSchema = z.strictObject({
  format: z
    .enum(['json', 'yaml', 'junit-xml', 'tap', 'md', 'html'])
    .default('json')
    .describe('Format of the report.'),
  include_cli_summary: flag(true).describe('Print a summary at the end.'),
  junit_test_suite_name: text.default('gantry-plugin').describe('Name of the test suite in JUnit XML.'),
  sanitize_transcripts: flag(false).describe(
    'Apply sanitization to transcripts, tool inputs, captures and citations.',
  ),
  sanitize_logs: flag(false).describe('Apply sanitization to progress and logs.'),
  sanitization: sanitizationSchema.prefault({}).describe('What is hidden in addition to secrets.'),
})

/** Every key by itself. Rules across keys are in schema.ts. */
export const pluginKeysSchema = z.strictObject({
  plugin: z
    .strictObject({
      path: path.optional().describe('Directory of the plugin.'),
      name: text
        .optional()
        .describe('Expected name in the manifest. With a marketplace and no path: the plugin to evaluate.'),
    })
    .optional()
    .describe('The plugin under test. A command-line argument takes precedence.'),
  marketplace: z
    .strictObject({
      path: path.describe('A marketplace file or its directory.'),
      evaluate_all: flag(false).describe('Evaluate every plugin of the marketplace, one after the other.'),
    })
    .optional()
    .describe(
      'A marketplace. Its plugins are installed beside the one under test (arm crowd), or are all evaluated.',
    ),
  scope: z
    .strictObject({
      skills: flag(true).describe('Evaluate skills.'),
      agents: flag(true).describe('Evaluate agents.'),
      commands: flag(true).describe('Evaluate commands.'),
      hooks: flag(false).describe('Evaluate hooks.'),
      mcp_servers: flag(false).describe('Evaluate MCP servers.'),
    })
    .prefault({})
    .describe('Which types of components are evaluated.'),
  generation: generationSchema.prefault({}).describe('Stage 2: generate scenarios.'),
  execution: executionKeysSchema.prefault({}).describe('Stage 3: run the scenarios in Claude Code.'),
  evaluation: evaluationSchema
    .prefault({})
    .describe('Stage 4: detect which components fired and judge the responses.'),
  output: outputSchema.prefault({}).describe('Reports, and what is hidden in them.'),
  scenarios: z
    .array(path)
    .default([])
    .describe('Files with hand-written scenarios, merged with the generated ones.'),
  cases: flag(true).describe("Include the cases in the plugin's evals/ directory."),
  resume: z
    .strictObject({
      run_id: text.describe('The run to resume.'),
      from_stage: z
        .enum(['analysis', 'generation', 'execution', 'evaluation'])
        .optional()
        .describe('The stage to resume from. Default: where the run stopped.'),
    })
    .optional()
    .describe('Resume an earlier run.'),
  fast_mode: z
    .strictObject({
      enabled: flag(false).describe('Run only the failures of an earlier run. Needs failed_run_id.'),
      failed_run_id: text.optional().describe('The earlier run. Needs enabled.'),
    })
    .prefault({})
    .describe('Repeat the failures of an earlier run.'),
  mcp_servers: z
    .strictObject({
      skip_auth_required: flag(true).describe('Skip servers that need credentials.'),
      connection_timeout_ms: whole(1_000, 60_000, 10_000).describe(
        'Time limit for a server to answer; a server that does not answer is skipped.',
      ),
    })
    .prefault({})
    .describe('MCP servers of the plugin.'),
  conflict_detection: z
    .strictObject({
      enabled: flag(true).describe(
        'Report components that fired in addition to or instead of the expected one.',
      ),
      cross_plugin: flag(false).describe('Also report components of other plugins and of the CLI itself.'),
    })
    .prefault({})
    .describe('Components that conflict with each other.'),
  tuning: tuningKeysSchema
    .prefault({})
    .describe('Advanced settings. The defaults are right for nearly all evaluations.'),
  dry_run: flag(false).describe('Stop after the cost estimate.'),
  estimate_costs: flag(true).describe('Estimate the cost before spending anything.'),
  batch_threshold: z
    .int()
    .min(1)
    .default(50)
    .describe('Minimum number of judge calls for which message batches are used.'),
  force_synchronous: flag(false).describe('Never use message batches.'),
  poll_interval_ms: z
    .int()
    .min(1_000)
    .default(30_000)
    .describe('Time between two checks of a message batch.'),
  batch_timeout_ms: whole(60_000, 86_400_000, 1_800_000).describe(
    'Time limit of a message batch. The remaining calls are then sent one by one.',
  ),
  rewind_file_changes: flag(false).describe(
    'Restore changed files after each scenario instead of creating a new workspace.',
  ),
  debug: flag(false).describe('Keep and show diagnostic details.'),
  verbose: flag(false).describe('Show the progress of every scenario.'),
  max_concurrent: whole(1, 50, 10).describe('Maximum number of calls and sessions at the same time.'),
})

export type PluginConfig = z.output<typeof pluginKeysSchema>
