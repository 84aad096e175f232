import { z } from 'zod'
import { choice, flag, optionalText } from '../../core/schema.ts'
import { cliAgentShape } from '../cli-agent-shape.ts'
import type { TomlValue } from './toml.ts'

const tomlValue: z.ZodType<TomlValue> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.array(tomlValue), z.record(z.string(), tomlValue)]),
)

export const codexAgentSchema = z.strictObject({
  driver: z.literal('codex').describe('Runs OpenAI Codex (`codex exec`).'),
  ...cliAgentShape,
  sandbox: choice(
    ['danger-full-access', 'workspace-write', 'read-only', 'default'],
    'danger-full-access',
    "What Codex's own sandbox allows commands to do. danger-full-access: no sandbox. default: what the settings of Codex say.",
  ),
  approval_policy: choice(
    ['never', 'on-request', 'untrusted'],
    'never',
    'When Codex asks before it acts. There is no person to answer, so requests are refused.',
  ),
  reasoning_effort: optionalText(
    'Reasoning effort, such as low, medium or high. Default: that of the model.',
  ),
  trust_hooks: flag(
    true,
    'Runs configured hooks that no person has reviewed; otherwise Codex silently skips them.',
  ),
  profile: optionalText("A profile, $CODEX_HOME/NAME.config.toml, of the caller's home. Needs home: host."),
  config: z
    .record(z.string().min(1), tomlValue)
    .default({})
    .describe(
      'Additional settings of config.toml: dotted keys and their values. They override those of Gantry.',
    ),
})

export type CodexAgentConfig = z.output<typeof codexAgentSchema>
