import { resolve } from 'node:path'
import { Command } from 'commander'
import { createColors } from 'picocolors'
import { counted } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { exitCode } from '../../core/exit-code.ts'
import { shortenEnd } from '../../report/display-width.ts'
import { plainLine } from '../../report/plain-text.ts'
import type { ClaimedTask, TaskEndRecord, TaskQueue, TaskRecord } from '../../store/queue/contract.ts'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { paintState } from './print-tasks.ts'
import { withTaskQueue } from './task-queue.ts'

export function taskWorkCommand(context: CliContext): Command {
  return new Command('work')
    .description('Work on queued tasks, and on tasks that a killed worker left, until the queue is empty.')
    .option('--from <dir>', 'use the queue that commands in this directory use (default: working directory)')
    .addHelpText(
      'after',
      helpParagraphs(
        'The queue is in the run store, whose directory gantry.yaml can set; --from chooses which gantry.yaml is read. Every task is done in its own repository.',
        'Exit codes: 0 the queue is empty · 130 interrupted; the next worker resumes what was started',
      ),
    )
    .action(({ from }: { readonly from?: string }) =>
      workUntilEmpty(from === undefined ? context : { ...context, cwd: resolve(context.cwd, from) }),
    )
}

const maxColumns = 120

/** Works until the queue is empty. Prints a line for each task that begins and ends, and why it stops. */
export async function workUntilEmpty(context: CliContext): Promise<void> {
  const { workOnQueue } = await import('../../task/worker/work-on-queue.ts')
  const { env, signal, stdout } = context
  await withTaskQueue(context, async (queue, store) => {
    const observed = observedQueue(queue, printingListener(context))
    await workOnQueue({ until: 'empty', signal }, { queue: observed, store, env, argv: ['gantry', 'task'] })
    stdout.write(`${whyStopped(queue, signal)}\n`)
  })
  if (signal.aborted) context.setExitCode(exitCode.interrupted)
}

type QueueListener = ReturnType<typeof printingListener>

/** The same queue, which also reports tasks that this worker starts, ends and releases. */
export function observedQueue(queue: TaskQueue, { begun, ended, released }: QueueListener): TaskQueue {
  return {
    ...queue,
    claim: (options) => {
      const claimed = queue.claim(options)
      if (claimed !== null) begun(claimed)
      return claimed
    },
    end: (id: string, end: TaskEndRecord) => {
      const task = queue.end(id, end)
      ended(task)
      return task
    },
    release: (id) => {
      queue.release(id)
      released(id)
    },
  }
}

function printingListener({ stdout }: CliContext) {
  const { dim } = createColors(stdout.color)
  const say = (text: string): void => stdout.write(`${dim(new Date().toTimeString().slice(0, 8))}  ${text}\n`)
  return {
    begun: ({ task, resumed }: ClaimedTask): void => {
      const what = shortenEnd(plainLine(task.description), maxColumns)
      say(`${task.id} ${resumed ? 'resumed' : 'started'} in ${plainLine(task.repository)}: ${what}`)
    },
    ended: (task: TaskRecord): void => {
      const { id, state, started_at, completed_at, error_message } = task
      const tookMs = Date.parse(completed_at ?? '') - Date.parse(started_at ?? '')
      const took = Number.isNaN(tookMs) ? '' : ` after ${formatDuration(tookMs)}`
      const why = error_message === null ? '' : `: ${shortenEnd(plainLine(error_message), maxColumns)}`
      say(`${id} ${paintState(state, state, stdout.color)}${took}${why}`)
    },
    /** Released without an end: the next worker resumes it. */
    released: (id: string): void => say(`${id} released; the next worker resumes it`),
  }
}

function whyStopped(queue: TaskQueue, signal: AbortSignal): string {
  if (signal.aborted) return 'Stopped: interrupted. gantry task work continues with the rest.'
  const waiting = queue.list({ states: ['QUEUED'] }).length
  const running = queue.list({ states: ['RUNNING'] }).length
  if (waiting + running === 0) return 'Stopped: the queue is empty.'
  return `Stopped: other workers have the rest, ${counted(running, 'running task')} and ${counted(waiting, 'queued task')}.`
}
