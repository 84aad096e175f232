import { Command } from 'commander'
import { counted } from '../../core/counted.ts'
import type { CliContext } from '../context.ts'

export function reindexCommand(context: CliContext): Command {
  return new Command('reindex')
    .description('Rebuild the index of runs from their directories.')
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (options: { readonly json?: boolean }) => {
      const { openProjectStore } = await import('../../config/open-project-store.ts')
      const { reindex } = await import('../../store/reindex.ts')
      const outcome = await reindex(openProjectStore(context))
      if (options.json === true) return context.stdout.write(`${JSON.stringify(outcome)}\n`)
      const { runs, trials, recovered } = outcome
      context.stdout.write(`Indexed ${counted(runs, 'run')} with ${counted(trials, 'finished trial')}.\n`)
      if (recovered > 0)
        context.stdout.write(`Added ${counted(recovered, 'line')} that results.jsonl lacked.\n`)
    })
}
