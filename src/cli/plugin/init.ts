import { join } from 'node:path'
import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { type PluginFlags, withTargetFlags } from './plugin-flags.ts'

export function pluginInitCommand(context: CliContext): Command {
  const command = new Command('init').description("Write a blank case into the plugin's evals/, to fill in.")
  return withTargetFlags(command)
    .requiredOption('--case <name>', 'name of the case and of its directory')
    .addHelpText(
      'after',
      helpParagraphs(
        'The case is in the format of claude plugin eval, so both tools run it. To write cases for every component, use gantry plugin generate --write-cases.',
      ),
    )
    .action((plugin: string | undefined, flags: PluginFlags & { readonly case: string }) =>
      init(plugin, flags, context),
    )
}

async function init(
  plugin: string | undefined,
  { case: name, ...flags }: PluginFlags & { readonly case: string },
  context: CliContext,
): Promise<void> {
  const { loadPluginConfig } = await import('./load-plugin-config.ts')
  const { evaluationTargets } = await import('../../plugin/pipeline/evaluation-target.ts')
  const { analysed } = await import('../../plugin/pipeline/run-analysis.ts')
  const { evalDirectory } = await import('../../plugin/cases/find-cases.ts')
  const { writeBlankCase } = await import('../../plugin/cases/write-cases.ts')
  const { config } = loadPluginConfig(plugin, flags, context)
  for (const { path } of await evaluationTargets(config, context.cwd)) {
    const { plugin_path: root, manifest } = await analysed({ path, cwd: context.cwd })
    for (const file of writeBlankCase(join(root, evalDirectory(manifest).path), root, name))
      context.stdout.write(`Created ${file}\n`)
  }
}
