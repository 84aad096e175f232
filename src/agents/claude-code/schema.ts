import { z } from 'zod'
import { choice, flag, optionalAmount, optionalCount, optionalText, texts } from '../../core/schema.ts'
import { cliAgentShape } from '../cli-agent-shape.ts'

const path = z.string().min(1)
/** A value that starts with a dash would be read as an option of the program. */
const tool = z.string().regex(/^[^-]/, 'the name of a tool must not start with a dash')

export const claudeShape = {
  permission_mode: choice(
    ['bypassPermissions', 'acceptEdits', 'auto', 'default', 'dontAsk', 'plan'],
    'bypassPermissions',
    'What the agent may do without asking. With all but bypassPermissions, anything that needs an answer is denied, because there is no person to ask. As root, bypassPermissions needs IS_SANDBOX, which is then set.',
  ),
  plugins: texts(
    'Directories of plugins to load, relative to this file. A plugin that does not load makes the trial invalid.',
  ),
  settings: z
    .union([path, z.record(z.string(), z.json())])
    .optional()
    .describe(
      'Settings of Claude Code with the highest precedence: a JSON file relative to this file, or the keys themselves.',
    ),
  setting_sources: z
    .array(z.enum(['user', 'project', 'local']))
    .optional()
    .describe('The settings files to read. Default: those that the program reads by itself; empty: none.'),
  strict_mcp_config: flag(false, 'Use only the MCP servers given here, none from settings or the workspace.'),
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
    .describe('Subagents by name, each with `description`, `prompt` and optionally `tools` and `model`.'),
  system_prompt: z.string().min(1).optional().describe("Replaces the agent's own system prompt."),
  append_system_prompt: z.string().min(1).optional().describe("Appended to the agent's own system prompt."),
  max_turns: optionalCount(
    'Maximum model answers per prompt. A lower limit of the scenario takes precedence.',
  ),
  max_budget_usd: optionalAmount('Maximum cost per prompt. A lower limit of the scenario takes precedence.'),
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional().describe('How much the model thinks.'),
  fallback_model: optionalText('Model to use when the first is overloaded. Makes results less reproducible.'),
  resume: z
    .string()
    .regex(/^[^-]/, 'a session id must not start with a dash')
    .optional()
    .describe('Id of an earlier session to continue. It must be in HOME: use `home: host`.'),
  add_dirs: texts('Additional directories that the agent may work in, relative to this file.'),
} as const

export const claudeCodeSchema = z.strictObject({
  driver: z.literal('claude-code').describe('Runs Claude Code headless, one process per prompt.'),
  ...cliAgentShape,
  ...claudeShape,
  mcp_config: texts('Files with MCP servers, as `--mcp-config` takes them, relative to this file.'),
})

export type ClaudeCodeConfig = z.output<typeof claudeCodeSchema>
