import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { type PluginFlags, withTargetFlags } from './plugin-flags.ts'

export function pluginHooksCommand(context: CliContext): Command {
  const command = new Command('hooks').description(
    "Try a plugin's hooks offline: every handler is really run, with the events Claude Code would send it.",
  )
  return withTargetFlags(command)
    .optionsGroup('How:')
    .option('--allow-http', 'also ask handlers of type http, on this machine only')
    .optionsGroup('What comes out:')
    .option('--json', 'print JSON and nothing else on standard output')
    .option('-v, --verbose', 'every simulated event, not only those with something to say')
    .addHelpText(
      'after',
      helpParagraphs(
        'The hooks run as you, in a home and a workspace that are thrown away. Examples of the author, evals/hooks/*.yaml, are checked.',
        'Exit codes: 0 nothing is wrong · 1 a hook fails open, hangs, or an example does not hold · 2 not a plugin, or bad usage',
      ),
    )
    .action(async (plugin: string | undefined, flags: PluginFlags) => {
      const { hooksCommand } = await import('./hooks-command.ts')
      await hooksCommand(plugin, flags, context)
    })
}
