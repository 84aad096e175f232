import { Command, Option } from 'commander'
import type { CliContext } from '../context.ts'

interface ShowFlags {
  readonly json?: boolean
  readonly diff?: boolean
  readonly report?: boolean
}

export function taskShowCommand(context: CliContext): Command {
  return new Command('show')
    .description('One task: its state, verifications, summary or stuck report, and its diff.')
    .argument('<task>', 'its id, an unambiguous part of it, its position, or "latest"')
    .addOption(
      new Option(
        '--diff',
        'print the diff of what it changed, or proposes to change, and nothing else',
      ).conflicts(['report', 'json']),
    )
    .addOption(
      new Option('--report', 'print its success summary or stuck report and nothing else').conflicts('json'),
    )
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (name: string, flags: ShowFlags) => {
      const { showTask } = await import('./show-task.ts')
      await showTask(name, flags, context)
    })
}
