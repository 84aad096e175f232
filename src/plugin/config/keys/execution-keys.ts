import { z } from 'zod'

/** Kinds of values that several keys of a plugin evaluation have. */
export const path = z.string().min(1)

export const modelName = z
  .string()
  .min(1)
  .default('default')
  .describe(
    '`default`, `opus`, `sonnet`, `haiku`, a version such as `sonnet-4.5`, another name of a model of Anthropic, or `provider:model`.',
  )
export const perSecond = z.number().min(0.1).max(100).optional()

const switched = z.boolean().optional()
const names = z.array(z.string().min(1)).optional()
const port = z.int().min(1).max(65_535).optional()

const networkSchema = z.strictObject({
  allowed_domains: names.describe('Hosts that commands may reach.'),
  allow_unix_sockets: names.describe('Unix sockets that commands may use, by path.'),
  allow_all_unix_sockets: switched.describe('Commands may use every Unix socket.'),
  allow_local_binding: switched.describe('Commands may listen on local ports.'),
  http_proxy_port: port.describe('Port of an HTTP proxy of your own, in place of the one of Claude Code.'),
  socks_proxy_port: port.describe('Port of a SOCKS proxy of your own, in place of the one of Claude Code.'),
})

const sandboxSchema = z.strictObject({
  enabled: z
    .boolean()
    .describe('Whether commands run in the sandbox. Must be said when anything else here is.'),
  auto_allow_bash_if_sandboxed: switched.describe('A command in the sandbox needs no permission.'),
  allow_unsandboxed_commands: switched.describe('The agent may ask to run a command outside of the sandbox.'),
  network: networkSchema.optional().describe('What commands in the sandbox may reach.'),
  ignore_violations: z
    .record(z.string(), z.array(z.string()))
    .optional()
    .describe('Violations that are not reported: places, by the command they belong to.'),
  enable_weaker_nested_sandbox: switched.describe('A weaker sandbox, for inside of a container.'),
  excluded_commands: names.describe('Commands that always run outside of the sandbox.'),
  ripgrep: z
    .strictObject({
      command: z.string().min(1).describe('The program.'),
      args: z.array(z.string()).optional().describe('Its first arguments.'),
    })
    .optional()
    .describe('Which ripgrep the sandbox uses.'),
})

/** `execution` of a plugin evaluation: how each scenario is put to Claude Code. */
export const executionSchema = z.strictObject({
  agent: z
    .string()
    .min(1)
    .default('claude-code')
    .describe('An agent of gantry.yaml, or `claude-code`. Its driver must be claude-code.'),
  model: modelName.describe(
    'Of the agent: `default` (its own choice), `opus`, `sonnet`, `haiku`, a version such as `sonnet-4.5`, or a full name.',
  ),
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
      'Tools the agent does not have. A scenario of a hook that is about one of them has it nevertheless, and so has every scenario a tool that is allowed while this list is the default.',
    ),
  num_reps: z.int().min(1).max(10).default(1).describe('How often each scenario is tried.'),
  additional_plugins: z
    .array(path)
    .default([])
    .describe('Directories of further plugins, for the arm `crowd`.'),
  arms: z
    .array(z.enum(['without', 'alone', 'crowd']))
    .min(1)
    .refine((arms) => new Set(arms).size === arms.length, 'each arm once')
    .optional()
    .describe(
      'In which company the plugin is tried: without it, alone, in a crowd of others. Default: alone; and crowd when there are further plugins.',
    ),
  requests_per_second: perSecond.describe('Scenarios begun per second. Default: no limit.'),
  max_thinking_tokens: z
    .int()
    .min(100)
    .max(100_000)
    .optional()
    .describe('Most that the model may think per answer. Default: its own limit.'),
  timeout_strategy: z
    .enum(['interrupt_first', 'abort_only'])
    .default('interrupt_first')
    .describe(
      'interrupt_first: ask the agent to stop, end it after interrupt_grace_ms. abort_only: end it at once.',
    ),
  interrupt_grace_ms: z
    .int()
    .min(1_000)
    .max(60_000)
    .default(10_000)
    .describe('Between asking the agent to stop and ending it.'),
  sandbox: sandboxSchema.optional().describe("Claude Code's own sandbox for commands, in its own words."),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'is no name of a variable'), z.string())
    .default({})
    .describe('Variables of the agent.'),
  cwd: path.optional().describe('A directory; the agent works in a copy of it. Default: an empty one.'),
  additional_directories: z.array(path).default([]).describe('Further directories the agent may read.'),
})
