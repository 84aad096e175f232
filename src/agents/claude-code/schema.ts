import { z } from 'zod'
import { cliAgentShape } from '../cli/schema.ts'
import { claudeShape } from './claude-shape.ts'

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
