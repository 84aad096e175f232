import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import {
  type PluginFlags,
  withDryRunFlags,
  withEvaluationFlags,
  withExecutionFlags,
  withOutputFlags,
  withScenarioFlags,
  withTargetFlags,
} from './plugin-flags.ts'

export const pluginExitCodes =
  'Exit codes: 0 as expected · 1 a component fired wrongly or not at all · 2 bad usage or input · 3 infrastructure · 4 partial or inconclusive with --strict · 130 interrupted'

export function pluginRunCommand(context: CliContext): Command {
  const command = new Command('run').description(
    'Evaluate a plugin through all four stages: analyse, generate, execute, evaluate.',
  )
  return withDryRunFlags(
    withOutputFlags(withEvaluationFlags(withExecutionFlags(withScenarioFlags(withTargetFlags(command))))),
  )
    .addHelpText(
      'after',
      helpParagraphs(
        'Runs the real Claude Code in a separate home directory with the plugin loaded. Hooks of the session record what fires. Without access to a model, scenarios come from trigger phrases, examples and templates. --replay record stores all traffic with models, and --replay strict runs it again without a key.',
        'Examples:\n  gantry plugin run ./my-plugin --dry-run\n  gantry plugin run ./my-plugin --reps 3 --max-cost-usd 5\n  gantry plugin run ./my-plugin --arms without,alone\n  gantry plugin run ./my-plugin --replay strict -o junit-xml:report.xml',
        pluginExitCodes,
      ),
    )
    .action(async (plugin: string | undefined, flags: PluginFlags) => {
      const { startEvaluation } = await import('./start-evaluation.ts')
      await startEvaluation({ plugin, flags, until: 'evaluation' }, context)
    })
}
