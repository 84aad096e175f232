import { z } from 'zod'
import { optionalText } from '../../core/schema.ts'
import { claudeShape } from '../claude-code/schema.ts'
import { cliAgentShape, modelKeys } from '../cli-agent-shape.ts'

const { binary, env, inherit_env, home, models } = cliAgentShape

export const claudeSdkSchema = z.strictObject({
  driver: z
    .literal('claude-sdk')
    .describe('Runs Claude Code with the Claude Agent SDK, with one process for all prompts of a session.'),
  package: optionalText(
    'Directory of the package @anthropic-ai/claude-agent-sdk, or one with it in node_modules, relative to this file. Default: as Node resolves it from this file, then next to Gantry.',
  ),
  binary: binary.describe(
    'The program claude to use: a name on PATH, or a path, relative to this file. Default: the one that comes with the package.',
  ),
  env,
  inherit_env,
  home,
  models,
  ...modelKeys,
  ...claudeShape,
  mcp_servers: z
    .record(z.string().min(1), z.record(z.string(), z.json()))
    .default({})
    .describe('MCP servers by name, each as in a `.mcp.json`.'),
})

export type ClaudeSdkConfig = z.output<typeof claudeSdkSchema>
