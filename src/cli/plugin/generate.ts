import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import {
  type PluginFlags,
  withDryRunFlags,
  withOutputFlags,
  withScenarioFlags,
  withTargetFlags,
} from './plugin-flags.ts'

export function pluginGenerateCommand(context: CliContext): Command {
  const command = new Command('generate').description(
    'Analyse a plugin and generate its scenarios, without running them.',
  )
  return withDryRunFlags(withOutputFlags(withScenarioFlags(withTargetFlags(command))))
    .option(
      '--write-cases [dir]',
      'also write them as cases of `claude plugin eval` (default: evals/ of the plugin)',
    )
    .addHelpText(
      'after',
      helpParagraphs(
        'The scenarios are in scenarios.json of the run. Give that file to a later run with --scenarios, or continue with gantry plugin resume.',
      ),
    )
    .action(async (plugin: string | undefined, flags: PluginFlags) => {
      const { startEvaluation } = await import('./start-evaluation.ts')
      await startEvaluation({ plugin, flags, until: 'generation' }, context)
    })
}
