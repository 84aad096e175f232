import { z } from 'zod'
import { cliAgentShape } from '../agent-keys.ts'
import type { TomlValue } from './toml.ts'

const tomlValue: z.ZodType<TomlValue> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.array(tomlValue), z.record(z.string(), tomlValue)]),
)

/** OpenAI's Codex. */
export const codexAgentSchema = z.strictObject({
  driver: z.literal('codex').describe('Runs OpenAI Codex (`codex exec`).'),
  ...cliAgentShape,
  sandbox: z
    .enum(['danger-full-access', 'workspace-write', 'read-only'])
    .default('danger-full-access')
    .describe("What Codex's own sandbox lets commands do. danger-full-access: there is none."),
  approval_policy: z
    .enum(['never', 'on-request', 'untrusted'])
    .default('never')
    .describe('When Codex asks before it acts. There is no person to answer: what it asks for is refused.'),
  reasoning_effort: z
    .string()
    .min(1)
    .optional()
    .describe('How hard the model thinks, such as low, medium or high. Default: that of the model.'),
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
      'Further settings of config.toml: dotted keys and their values. They win over those that Gantry gives.',
    ),
})

export type CodexAgentConfig = z.output<typeof codexAgentSchema>
