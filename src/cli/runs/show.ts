import { Command } from 'commander'
import type { CliContext } from '../context.ts'

interface ShowFlags {
  readonly json?: boolean
}

export function showCommand(context: CliContext): Command {
  return new Command('show')
    .description('Show a run, or one of its trials: what ran, how it ended and where its files are.')
    .argument('<run>', "a run id, the beginning of one, 'latest' or 'blessed'")
    .argument('[trial]', 'a trial id, or the beginning of one')
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (wanted: string, trial: string | undefined, flags: ShowFlags) => {
      const { openProjectStore } = await import('../../config/open-project-store.ts')
      const { findRun } = await import('../../store/find-run.ts')
      const store = openProjectStore(context)
      const runId = findRun(store, wanted)
      if (trial === undefined) {
        const { showRun } = await import('./show-run.ts')
        await showRun(store, runId, flags.json === true, context)
        return
      }
      const { showTrial } = await import('./show-trial.ts')
      await showTrial(store, runId, trial, flags.json === true, context)
    })
}
