import { Command } from 'commander'
import type { CliContext } from './context.ts'
import { port } from './flag-values.ts'
import { queueOption } from './queue.ts'
import type { ViewFlags } from './view-runs.ts'

export function viewCommand(context: CliContext): Command {
  return new Command('view')
    .argument('[run...]', "a run id, the beginning of one, or 'latest': its page is opened")
    .option('--port <port>', 'port to listen on; 0 chooses a free one', port, 7778)
    .option('--no-open', 'only print the address')
    .option('--export <dir>', 'write the page of these runs into a folder for any web server, and stop')
    .addOption(queueOption())
    .option('--json', 'print the address as JSON and nothing else on standard output')
    .action(async (runs: string[], flags: ViewFlags) => {
      if (flags.export !== undefined) {
        const { exportView } = await import('./view-export.ts')
        return await exportView(flags.export, runs, context)
      }
      const { viewRuns } = await import('./view-runs.ts')
      await viewRuns(runs, flags, context)
    })
}
