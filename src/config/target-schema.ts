import { z } from 'zod'
import { text } from '../core/schema.ts'

/** The tool under test, written in a scenario or once for all of them in gantry.yaml. */
export const targetSchema = z.strictObject({
  binary: text(
    'Name or path of the tool under test. A path is looked up in the template, then in the project.',
  ),
  command_pattern: z
    .string()
    .optional()
    .describe(
      'Regular expression (RE2) that finds invocations of the tool. Group 1, when there is one, is the subcommand. Without a pattern the binary is matched by name.',
    ),
  health_check: z
    .string()
    .optional()
    .describe('Shell command that must exit 0 in the prepared workspace before the agent is started.'),
  env: z
    .record(z.string(), z.string())
    .default({})
    .describe(
      `Environment for the agent, the scripts and the gates. $\{NAME} is replaced by the variable of the caller, or by one of the script variables such as $\{GANTRY_FIXTURE_DIR}.`,
    ),
})

export type TargetConfig = z.output<typeof targetSchema>
