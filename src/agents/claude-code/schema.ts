import { z } from 'zod'
import { cliAgentShape } from '../agent-keys.ts'

const path = z.string().min(1)
/** A word that begins with a dash would be taken for an option of the program. */
const tool = z.string().regex(/^[^-]/, 'the name of a tool does not begin with a dash')

/** Settings that Claude Code has however it is started: by its command line or by its SDK. */
export const claudeShape = {
  permission_mode: z
    .enum(['bypassPermissions', 'acceptEdits', 'auto', 'default', 'dontAsk', 'plan'])
    .default('bypassPermissions')
    .describe(
      'What the agent may do without being asked. With all but bypassPermissions there is no person to ask: what would need an answer is denied. As root, bypassPermissions needs IS_SANDBOX, which is then set.',
    ),
  plugins: z
    .array(path)
    .default([])
    .describe(
      'Directories of plugins to load, relative to this file. A plugin that does not load makes the trial invalid.',
    ),
  settings: z
    .union([path, z.record(z.string(), z.json())])
    .optional()
    .describe(
      'Settings of Claude Code over all others: a JSON file relative to this file, or the keys themselves.',
    ),
  setting_sources: z
    .array(z.enum(['user', 'project', 'local']))
    .optional()
    .describe(
      'Which settings files are read. Without this key: all that the program reads by itself; empty: none.',
    ),
  strict_mcp_config: z
    .boolean()
    .default(false)
    .describe('Only the MCP servers given here are used, none from settings or the workspace.'),
  allowed_tools: z
    .array(tool)
    .default([])
    .describe('Tools that need no permission, such as `Edit` or `Bash(git *)`.'),
  disallowed_tools: z
    .array(tool)
    .default([])
    .describe('Tools that are denied, such as `WebFetch` or `Bash(rm *)`.'),
  agents: z
    .record(z.string().min(1), z.record(z.string(), z.json()))
    .default({})
    .describe('Subagents by name, each with `description`, `prompt` and, if wanted, `tools` and `model`.'),
  system_prompt: z.string().min(1).optional().describe("Replaces the agent's own system prompt."),
  append_system_prompt: z.string().min(1).optional().describe("Stands behind the agent's own system prompt."),
  max_turns: z
    .int()
    .positive()
    .optional()
    .describe("Answers of the model per prompt. The scenario's own limit counts when it is lower."),
  max_budget_usd: z
    .number()
    .positive()
    .optional()
    .describe("Money per prompt. The scenario's own limit counts when it is lower."),
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional().describe('How much the model thinks.'),
  fallback_model: z
    .string()
    .min(1)
    .optional()
    .describe('Model to go on with when the first is overloaded. Makes results depend on the weather.'),
  resume: z
    .string()
    .regex(/^[^-]/, 'an id of a session does not begin with a dash')
    .optional()
    .describe('Id of an earlier session to go on with. It must be in HOME: use `home: host`.'),
  add_dirs: z
    .array(path)
    .default([])
    .describe('Further directories the agent may work in, relative to this file.'),
} as const

/** Claude Code as a command-line program. */
export const claudeCodeSchema = z.strictObject({
  driver: z.literal('claude-code').describe('Runs Claude Code headless, one process per prompt.'),
  ...cliAgentShape,
  ...claudeShape,
  mcp_config: z
    .array(z.string().min(1))
    .default([])
    .describe('Files with MCP servers, as `--mcp-config` takes them, relative to this file.'),
})

export type ClaudeCodeConfig = z.output<typeof claudeCodeSchema>
