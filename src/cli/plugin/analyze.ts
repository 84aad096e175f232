import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { type PluginFlags, withTargetFlags } from './plugin-flags.ts'

export function pluginAnalyzeCommand(context: CliContext): Command {
  const command = new Command('analyze')
    .alias('analyse')
    .description(
      'Look at a plugin without running anything: components, triggers, and what its files get wrong.',
    )
  return withTargetFlags(command)
    .option(
      '--with-plugins <paths>',
      'plugins it will be installed beside; they share the listing',
      (value: string) => value.split(',').filter((path) => path !== ''),
    )
    .optionsGroup('What comes out:')
    .option('--json', 'print the analysis as JSON and nothing else on standard output')
    .option('--strict', 'warnings count as errors')
    .addHelpText(
      'after',
      helpParagraphs(
        'Exit codes: 0 nothing is wrong · 1 findings that are errors · 2 not a plugin, or bad usage',
      ),
    )
    .action(async (plugin: string | undefined, flags: PluginFlags) => {
      const { analyzeCommand } = await import('./analyze-command.ts')
      await analyzeCommand(plugin, flags, context)
    })
}
