import { z } from 'zod'
import { cliAgentShape } from '../cli-agent-shape.ts'

/** Google's Gemini CLI. */
export const geminiAgentSchema = z.strictObject({
  driver: z.literal('gemini').describe('Runs Google Gemini CLI.'),
  ...cliAgentShape,
  approval_mode: z
    .enum(['yolo', 'auto_edit', 'default', 'plan'])
    .default('yolo')
    .describe('What Gemini CLI does without asking. There is no person to answer, so requests are refused.'),
  debug: z
    .boolean()
    .default(false)
    .describe(
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
