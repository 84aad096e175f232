import { z } from 'zod'
import { cliAgentShape } from '../agent-keys.ts'

/** Google's Gemini CLI. */
export const geminiAgentSchema = z.strictObject({
  driver: z.literal('gemini').describe('Runs Google Gemini CLI.'),
  ...cliAgentShape,
  approval_mode: z
    .enum(['yolo', 'auto_edit', 'default', 'plan'])
    .default('yolo')
    .describe('What Gemini CLI does unasked. Nobody is there to answer: what it would ask for is refused.'),
  debug: z
    .boolean()
    .default(false)
    .describe(
      'Only in its debug mode does Gemini CLI report the exit code of a command that printed something. It then also writes its whole history to stderr again and again.',
    ),
  settings: z
    .record(z.string().min(1), z.json())
    .default({})
    .describe(
      'Further settings of settings.json, such as hooks or MCP servers; they win over those that Gantry gives. Needs home: isolated.',
    ),
})

export type GeminiAgentConfig = z.output<typeof geminiAgentSchema>
