import { z } from 'zod'
import { choice, flag, optionalChoice, optionalText, texts } from '../../core/schema.ts'
import { cliAgentShape } from '../cli-agent-shape.ts'

export const copilotAgentSchema = z.strictObject({
  driver: z.literal('copilot').describe('Runs GitHub Copilot CLI.'),
  ...cliAgentShape,
  plugins: texts('Directories of plugins to load, Claude-style ones too. Relative to this file.'),
  agent: z.string().min(1).optional().describe('A custom agent to use instead of the default one.'),
  reasoning_effort: optionalChoice(
    ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    'Reasoning effort. Default: that of the model.',
  ),
  allow: choice(
    ['all', 'tools'],
    'tools',
    'What Copilot may do without asking. tools: every tool, inside the workspace. all: any path and any URL too.',
  ),
  trust_folder: flag(
    true,
    'Loads the configuration of the workspace: its hooks, skills, plugins and MCP servers.',
  ),
  model_api: choice(
    ['auto', 'openai-chat', 'openai-responses', 'anthropic'],
    'auto',
    'The wire format with which Copilot calls a scripted, recorded or metered model. auto: anthropic for claude models, else openai-chat.',
  ),
  package_cache: optionalText(
    "Directory where Copilot unpacks its program (about 220 MB), shared by all trials. Relative to this file. Default: in the caller's cache.",
  ),
})

export type CopilotAgentConfig = z.output<typeof copilotAgentSchema>
