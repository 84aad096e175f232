import { z } from 'zod'
import { choice, optionalText } from '../../core/schema.ts'
import { cliAgentShape } from '../cli-agent-shape.ts'

export const opencodeAgentSchema = z.strictObject({
  driver: z.literal('opencode').describe('Runs opencode (`opencode run`).'),
  ...cliAgentShape,
  agent: z.string().min(1).optional().describe('The agent of opencode to use, such as build or plan.'),
  variant: optionalText(
    "A variant of the model: its reasoning effort in the provider's terms, such as high or minimal.",
  ),
  approve: choice(
    ['all', 'configured'],
    'all',
    'What opencode does without asking. all: everything. configured: what its permission settings allow; there is no person to answer, so the rest is refused.',
  ),
  config: z
    .record(z.string().min(1), z.json())
    .default({})
    .describe('Additional settings of opencode.json, such as MCP servers or agents. Needs home: isolated.'),
})

export type OpencodeAgentConfig = z.output<typeof opencodeAgentSchema>
