import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { count } from '../flag-values.ts'
import type { PluginListFlags } from './list-evaluations.ts'

export function pluginListCommand(context: CliContext): Command {
  return new Command('list')
    .alias('ls')
    .description('List plugin evaluations, newest first.')
    .option('-p, --plugin <name>', 'only those of this plugin')
    .option('--limit <n>', 'at most so many', count, 20)
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (flags: PluginListFlags) => {
      const { listEvaluations } = await import('./list-evaluations.ts')
      await listEvaluations(flags, context)
    })
}
