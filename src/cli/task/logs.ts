import { Command, Option } from 'commander'
import type { CliContext } from '../context.ts'

interface LogsFlags {
  readonly follow?: boolean
  readonly verbose?: boolean
  readonly format: 'text' | 'events' | 'log'
}

export function taskLogsCommand(context: CliContext): Command {
  return new Command('logs')
    .description('What a task did, from its first line on; with --follow also what it does next.')
    .argument('<task>', 'its id, an unambiguous part of it, its position, or "latest"')
    .option('-f, --follow', 'go on until the task ends')
    .option('-v, --verbose', 'also what the agent does and what the steps print')
    .addOption(
      new Option('--format <format>', 'text for people, one JSON event per line, or the structured log')
        .choices(['text', 'events', 'log'])
        .default('text'),
    )
    .action(async (name: string, flags: LogsFlags) => {
      const { showTaskLogs } = await import('./show-task-logs.ts')
      await showTaskLogs(name, flags, context)
    })
}
