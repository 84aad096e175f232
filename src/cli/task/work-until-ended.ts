import { GantryError } from '../../core/error.ts'
import { exitCode } from '../../core/exit-code.ts'
import { plainText } from '../../report/plain-text.ts'
import type { Store } from '../../store/contract.ts'
import type { FinalState, TaskQueue, TaskRecord } from '../../store/queue/contract.ts'
import type { TaskEvent } from '../../task/contract.ts'
import { taskReports } from '../../task/task-reports.ts'
import type { TaskSubmission } from '../../task/worker/submit-task.ts'
import { workOnQueue } from '../../task/worker/work-on-queue.ts'
import type { CliContext } from '../context.ts'
import { followTask } from './follow-task.ts'
import { withQueue } from './open-task-queue.ts'
import { taskEventPrinter } from './print-task-event.ts'
import { hasWork, startWorker } from './start-worker.ts'
import { submitted } from './submitted.ts'
import type { TaskFlags } from './task-flags.ts'
import { workerPowers } from './worker-powers.ts'

const exitCodes = {
  SUCCESS: exitCode.pass,
  STUCK: exitCode.failed,
  INFRA_ERROR: exitCode.infra,
  CANCELLED: exitCode.interrupted,
} as const

/** Queues a task, works until it has ended, whoever did it, and tells what happens to it. */
export function workUntilEnded(
  submission: TaskSubmission,
  { json, verbose }: Pick<TaskFlags, 'json' | 'verbose'>,
  context: CliContext,
): Promise<void> {
  return withQueue(context, async (queue, store) => {
    const task = submitted(queue, submission, context)
    const print =
      json === true
        ? (event: TaskEvent) => context.stdout.write(`${JSON.stringify(event)}\n`)
        : taskEventPrinter(context, { verbose: verbose === true })
    if (json !== true && task.position !== 1)
      context.stderr.write(`${task.id} waits at position ${task.position}.\n`)
    const cancel = (): void => cancelQuietly(queue, task.id)
    context.signal.addEventListener('abort', cancel, { once: true })
    // The task is cancelled by way of the queue, so that it also ends in order when another process does it.
    const stop = new AbortController()
    const working = workOnQueue(
      { repository: submission.repository, until: { task: task.id }, signal: stop.signal },
      workerPowers(context, queue, store),
    )
    // A worker that fails says nothing more: whoever only followed its task would wait for ever.
    const failure = working.then(
      () => null,
      (error: unknown) => {
        stop.abort()
        return { error }
      },
    )
    await followTask(queue, task.id, print, { signal: stop.signal })
    stop.abort()
    const failed = await failure
    context.signal.removeEventListener('abort', cancel)
    if (failed !== null) throw failed.error
    const ended = queue.get(task.id)
    const state = (ended?.state ?? 'CANCELLED') as FinalState
    if (json === true && ended === null)
      context.stdout.write(`${JSON.stringify({ kind: 'task_ended', task_id: task.id, state })}\n`)
    if (json !== true) printEnd(ended, store, context)
    context.setExitCode(exitCodes[state])
    if (hasWork(queue)) startWorker(context)
  })
}

/** It may have ended a moment before. */
function cancelQuietly(queue: TaskQueue, id: string): void {
  try {
    queue.cancel(id)
  } catch (error) {
    if (!(error instanceof GantryError)) throw error
  }
}

function printEnd(task: TaskRecord | null, store: Store, { stdout }: CliContext): void {
  if (task === null) {
    stdout.write('The task was taken out of the queue.\n')
    return
  }
  const { summary, stuckReport, diff } = taskReports(store, task)
  if (summary !== null) stdout.write(`\n${plainText(summary)}`)
  if (stuckReport !== null)
    stdout.write(
      `\nThe report: gantry task show ${task.id} --report\nOnce mended: gantry task retry ${task.id}\n`,
    )
  if (task.dry_run && diff !== null)
    stdout.write(
      `\n${plainText(diff)}\nNothing was changed. Bring it in with: gantry task apply ${task.id}\n`,
    )
}
