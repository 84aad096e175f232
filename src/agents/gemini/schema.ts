import { z } from 'zod'
import { choice, flag } from '../../core/schema.ts'
import { cliAgentShape } from '../cli-agent-shape.ts'

export const geminiAgentSchema = z.strictObject({
  driver: z.literal('gemini').describe('Runs Google Gemini CLI.'),
  ...cliAgentShape,
  approval_mode: choice(
    ['yolo', 'auto_edit', 'default', 'plan'],
    'yolo',
    'What Gemini CLI does without asking. There is no person to answer, so requests are refused.',
  ),
  debug: flag(
    false,
    'Makes Gemini CLI report the exit code of a command that printed something. In this mode it also writes its whole history to stderr repeatedly.',
  ),
  settings: z
    .record(z.string().min(1), z.json())
    .default({})
    .describe(
      'Additional settings of settings.json, such as hooks or MCP servers; they override those of Gantry. Needs home: isolated.',
    ),
})

export type GeminiAgentConfig = z.output<typeof geminiAgentSchema>
