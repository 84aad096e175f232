import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import {
  type PluginFlags,
  withDryRunFlags,
  withExecutionFlags,
  withOutputFlags,
  withScenarioFlags,
  withTargetFlags,
} from './plugin-flags.ts'

export function pluginExecuteCommand(context: CliContext): Command {
  const command = new Command('execute').description(
    'Analyse, generate and run every scenario in Claude Code; verdicts come later.',
  )
  return withDryRunFlags(withOutputFlags(withExecutionFlags(withScenarioFlags(withTargetFlags(command)))))
    .addHelpText(
      'after',
      helpParagraphs('Continue with gantry plugin evaluate RUN, or gantry plugin resume RUN.'),
    )
    .action(async (plugin: string | undefined, flags: PluginFlags) => {
      const { startEvaluation } = await import('./start-evaluation.ts')
      await startEvaluation({ plugin, flags, until: 'execution' }, context)
    })
}
