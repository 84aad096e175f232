import { z } from 'zod'

// Value types shared by several keys.

export const text = z.string().min(1)
export const path = z.string().min(1)

export function flag(initial: boolean) {
  return z.boolean().default(initial)
}

export function whole(min: number, max: number, initial: number) {
  return z.int().min(min).max(max).default(initial)
}

export function within(min: number, max: number, initial: number) {
  return z.number().min(min).max(max).default(initial)
}

export const modelName = text
  .default('default')
  .describe(
    '`default`, `opus`, `sonnet`, `haiku`, a version such as `sonnet-4.5`, another name of a model of Anthropic, or `provider:model`.',
  )
export const perSecond = z.number().min(0.1).max(100).optional()

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
export const executionKeysSchema = z.strictObject({
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
