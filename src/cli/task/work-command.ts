import { createColors } from 'picocolors'
import { counted } from '../../core/counted.ts'
import { formatDuration } from '../../core/duration.ts'
import { exitCode } from '../../core/exit-code.ts'
import { plainLine } from '../../report/plain-text.ts'
import { shortenEnd } from '../../report/text-width.ts'
import type { TaskQueue } from '../../store/queue/contract.ts'
import { workOnQueue } from '../../task/worker/work-on-queue.ts'
import type { CliContext } from '../context.ts'
import { withQueue } from './open-task-queue.ts'
import { paintState } from './task-columns.ts'
import { type QueueListener, toldQueue } from './told-queue.ts'
import { workerPowers } from './worker-powers.ts'

const maxColumns = 120

/** `gantry task work`, once the flags are known: a line for each task begun and ended, and why it stops. */
export async function workCommand(context: CliContext): Promise<void> {
  await withQueue(context, async (queue, store) => {
    const told = toldQueue(queue, workLines(context))
    await workOnQueue({ until: 'empty', signal: context.signal }, workerPowers(context, told, store))
    context.stdout.write(`${whyStopped(queue, context.signal)}\n`)
  })
  if (context.signal.aborted) context.setExitCode(exitCode.interrupted)
}

function workLines({ stdout }: CliContext): QueueListener {
  const { dim } = createColors(stdout.color)
  const say = (text: string): void => stdout.write(`${dim(new Date().toTimeString().slice(0, 8))}  ${text}\n`)
  return {
    begun: ({ task, resumed }) => {
      const what = shortenEnd(plainLine(task.description), maxColumns)
      say(`${task.id} ${resumed ? 'taken up again' : 'begun'} in ${plainLine(task.repository)}: ${what}`)
    },
    ended: (task) => {
      const { id, state, started_at, completed_at, error_message } = task
      const tookMs = Date.parse(completed_at ?? '') - Date.parse(started_at ?? '')
      const took = Number.isNaN(tookMs) ? '' : ` after ${formatDuration(tookMs)}`
      const why = error_message === null ? '' : `: ${shortenEnd(plainLine(error_message), maxColumns)}`
      say(`${id} ${paintState(state, state, stdout.color)}${took}${why}`)
    },
    left: (id) => say(`${id} left as it is; the next worker goes on with it`),
  }
}

function whyStopped(queue: TaskQueue, signal: AbortSignal): string {
  if (signal.aborted) return 'Stopped: interrupted. gantry task work goes on with what is left.'
  const waiting = queue.list({ states: ['QUEUED'] }).length
  const running = queue.list({ states: ['RUNNING'] }).length
  if (waiting + running === 0) return 'Stopped: nothing is left to do.'
  return `Stopped: what is left is for other workers, ${counted(running, 'running task')} and ${counted(waiting, 'task')} waiting behind.`
}
