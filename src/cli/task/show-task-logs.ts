import type { TaskEvent } from '../../task/contract.ts'
import { logRecord } from '../../task/telemetry/log-record.ts'
import type { CliContext } from '../context.ts'
import { findTask } from './find-task.ts'
import { followTask } from './follow-task.ts'
import { withQueue } from './open-task-queue.ts'
import { taskEventPrinter } from './print-task-event.ts'

interface Wanted {
  readonly follow?: boolean
  readonly details?: boolean
  readonly format: 'text' | 'events' | 'log'
}

/** `gantry task logs`, once the flags are known. */
export function showTaskLogs(name: string, wanted: Wanted, context: CliContext): Promise<void> {
  return withQueue(context, (queue) =>
    followTask(queue, findTask(queue, name).id, printer(wanted, context), {
      signal: context.signal,
      untilEnded: wanted.follow === true,
    }),
  )
}

function printer({ format, details }: Wanted, context: CliContext): (event: TaskEvent) => void {
  const json = (value: unknown): void => context.stdout.write(`${JSON.stringify(value)}\n`)
  if (format === 'events') return json
  if (format === 'text') return taskEventPrinter(context, { verbose: details === true })
  return (event) => {
    const record = logRecord(event)
    if (record !== null) json(record)
  }
}
