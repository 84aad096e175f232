import { join } from 'node:path'
import { createColors } from 'picocolors'
import { formatDuration } from '../../core/duration.ts'
import { GantryError } from '../../core/error.ts'
import { plainLine, plainText } from '../../report/plain-text.ts'
import { formatCost } from '../../report/quantity.ts'
import type { Store } from '../../store/contract.ts'
import type { QueuedTask } from '../../store/queue/contract.ts'
import { taskPapers } from '../../task/task-papers.ts'
import { tallyFrom } from '../../task/telemetry/task-tally.ts'
import type { CliContext } from '../context.ts'
import { findTask } from './find-task.ts'
import { lastDiff } from './last-diff.ts'
import { withQueue } from './open-task-queue.ts'
import { paintState } from './task-columns.ts'

interface Wanted {
  readonly json?: boolean
  readonly diff?: boolean
  readonly report?: boolean
}

/** `gantry task show`, once the flags are known. */
export function showTask(name: string, { json, diff, report }: Wanted, context: CliContext): Promise<void> {
  return withQueue(context, (queue, store) => {
    const task = findTask(queue, name)
    const kept = taskPapers(store, task)
    const papers = { ...kept, diff: kept.diff ?? lastDiff(queue, task.id) }
    const { stdout } = context
    if (diff === true) return stdout.write(wanted(papers.diff, task, 'diff'))
    if (report === true) return stdout.write(wanted(papers.summary ?? papers.stuckReport, task, 'report'))
    if (json === true) return stdout.write(`${JSON.stringify({ task, ...papers })}\n`)
    for (const line of lines(task, store, stdout.color)) stdout.write(`${line}\n`)
    const paper = papers.summary ?? papers.stuckReport
    if (paper !== null) stdout.write(`\n${plainText(paper)}`)
    if (papers.diff !== null) stdout.write(`\nThe diff: gantry task show ${task.id} --diff\n`)
  })
}

function wanted(text: string | null, { id, state }: QueuedTask, what: string): string {
  if (text !== null) return text.endsWith('\n') ? text : `${text}\n`
  throw new GantryError('NOT_FOUND', `task ${id} is ${state} and has no ${what}`, {
    hint: 'See what there is with gantry task show, and what happened with gantry task logs.',
  })
}

function lines(task: QueuedTask, store: Store, color: boolean): readonly string[] {
  const { bold, dim } = createColors(color)
  const row = (title: string, text: string): string => `${dim(title.padEnd(13))} ${text}`
  const tally = tallyFrom(task.metrics)
  const where = task.position === null ? '' : `, position ${task.position}`
  return [
    bold(plainLine(task.description.split('\n')[0] ?? '')),
    row('task', `${task.id}${task.dry_run ? ' (dry run)' : ''}`),
    row(
      'state',
      `${paintState(task.state, task.state, color)}${task.phase === null ? '' : ` ${task.phase}`}${where}`,
    ),
    row('repository', plainLine(task.repository)),
    ...(task.error_message === null ? [] : [row('why', plainLine(task.error_message))]),
    ...(task.current_attempt === 0 ? [] : [row('attempts', `${task.current_attempt} of 12`)]),
    ...task.run_ids.map((id) => row('verification', id)),
    ...(task.task_run_id === null ? [] : [row('run', join(store.runsDir, task.task_run_id))]),
    ...(tally === null
      ? []
      : [row('took', `${formatDuration(tally.duration_ms)}, ${formatCost(tally.cost_usd)}`)]),
  ]
}
