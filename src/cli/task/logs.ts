import { Command, Option } from 'commander'
import { GantryError } from '../../core/error.ts'
import type { TaskEvent } from '../../task/contract.ts'
import { findTask } from '../../task/find-task.ts'
import { followTask } from '../../task/follow-task.ts'
import { logRecord } from '../../task/telemetry/log-record.ts'
import type { CliContext } from '../context.ts'
import { taskEventPrinter } from './task-event-printer.ts'
import { withTaskQueue } from './task-queue.ts'

interface LogsFlags {
  readonly follow?: boolean
  readonly verbose?: boolean
  readonly format: 'text' | 'events' | 'log'
}

export function taskLogsCommand(context: CliContext): Command {
  return new Command('logs')
    .description('Print what a task did since its start; with --follow also what it does next.')
    .argument('<task>', 'its id, an unambiguous part of it, its position, or "latest" of this repository')
    .option('-f, --follow', 'keep printing until the task ends')
    .option('-v, --verbose', 'also print what the agent does and what the steps print')
    .addOption(
      new Option('--format <format>', 'text for people, one JSON event per line, or the structured log')
        .choices(['text', 'events', 'log'])
        .default('text'),
    )
    .action((name: string, flags: LogsFlags) => printLogs(name, flags, context))
}

async function printLogs(name: string, flags: LogsFlags, context: CliContext): Promise<void> {
  if (flags.verbose === true && flags.format !== 'text')
    throw new GantryError('USAGE', `--verbose has no effect with --format ${flags.format}`, {
      hint: 'Use only one of them.',
    })
  await withTaskQueue(context, (queue) => {
    const task = findTask(queue, name, context.cwd)
    const verbose = flags.verbose === true || task.verbose
    return followTask(queue, task.id, printer({ ...flags, verbose }, context), {
      signal: context.signal,
      untilEnded: flags.follow === true,
    })
  })
}

function printer({ format, verbose }: LogsFlags, context: CliContext): (event: TaskEvent) => void {
  const json = (value: unknown): void => context.stdout.write(`${JSON.stringify(value)}\n`)
  if (format === 'events') return json
  if (format === 'text') return taskEventPrinter(context, { verbose: verbose === true })
  return (event) => {
    const record = logRecord(event)
    if (record !== null) json(record)
  }
}
