import { GantryError } from '../../core/error.ts'
import type { TaskEvent } from '../../task/contract.ts'
import { logRecord } from '../../task/telemetry/log-record.ts'
import type { CliContext } from '../context.ts'
import { findTask } from './find-task.ts'
import { followTask } from './follow-task.ts'
import { withQueue } from './open-task-queue.ts'
import { taskEventPrinter } from './print-task-event.ts'

interface Wanted {
  readonly follow?: boolean
  readonly verbose?: boolean
  readonly format: 'text' | 'events' | 'log'
}

/** `gantry task logs`, once the flags are known. */
export async function showTaskLogs(name: string, wanted: Wanted, context: CliContext): Promise<void> {
  if (wanted.verbose === true && wanted.format !== 'text')
    throw new GantryError('USAGE', `--verbose changes nothing of --format ${wanted.format}`, {
      hint: 'Leave one of them out.',
    })
  return withQueue(context, (queue) => {
    const task = findTask(queue, name)
    // A task that was queued as verbose is told so, too.
    const verbose = wanted.verbose === true || task.verbose
    return followTask(queue, task.id, printer({ ...wanted, verbose }, context), {
      signal: context.signal,
      untilEnded: wanted.follow === true,
    })
  })
}

function printer({ format, verbose }: Wanted, context: CliContext): (event: TaskEvent) => void {
  const json = (value: unknown): void => context.stdout.write(`${JSON.stringify(value)}\n`)
  if (format === 'events') return json
  if (format === 'text') return taskEventPrinter(context, { verbose: verbose === true })
  return (event) => {
    const record = logRecord(event)
    if (record !== null) json(record)
  }
}
