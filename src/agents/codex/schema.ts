import { z } from 'zod'
import { cliAgentShape } from '../cli-agent-shape.ts'
import type { TomlValue } from './toml.ts'

const tomlValue: z.ZodType<TomlValue> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.array(tomlValue), z.record(z.string(), tomlValue)]),
)

/** OpenAI's Codex. */
export const codexAgentSchema = z.strictObject({
  driver: z.literal('codex').describe('Runs OpenAI Codex (`codex exec`).'),
  ...cliAgentShape,
  sandbox: z
    .enum(['danger-full-access', 'workspace-write', 'read-only', 'default'])
    .default('danger-full-access')
    .describe(
      "What Codex's own sandbox allows commands to do. danger-full-access: no sandbox. default: what the settings of Codex say.",
    ),
  approval_policy: z
    .enum(['never', 'on-request', 'untrusted'])
    .default('never')
    .describe('When Codex asks before it acts. There is no person to answer, so requests are refused.'),
  reasoning_effort: z
    .string()
    .min(1)
    .optional()
    .describe('Reasoning effort, such as low, medium or high. Default: that of the model.'),
  trust_hooks: z
    .boolean()
    .default(true)
    .describe('Runs configured hooks that no person has reviewed; otherwise Codex silently skips them.'),
  profile: z
    .string()
    .min(1)
    .optional()
    .describe("A profile, $CODEX_HOME/NAME.config.toml, of the caller's home. Needs home: host."),
  config: z
    .record(z.string().min(1), tomlValue)
    .default({})
    .describe(
      'Additional settings of config.toml: dotted keys and their values. They override those of Gantry.',
    ),
})

export type CodexAgentConfig = z.output<typeof codexAgentSchema>
