import { join } from 'node:path'
import { Command, Option } from 'commander'
import { createColors } from 'picocolors'
import { formatDuration } from '../../core/duration.ts'
import { GantryError } from '../../core/error.ts'
import { plainLine, plainText } from '../../report/plain-text.ts'
import { formatCost } from '../../report/quantity.ts'
import type { Store } from '../../store/contract.ts'
import type { QueuedTask, TaskQueue } from '../../store/queue/contract.ts'
import { changePlace, changeWords } from '../../task/apply-change.ts'
import { readProposal } from '../../task/dry-run/proposal.ts'
import { findTask } from '../../task/find-task.ts'
import { lastDiff, openQuestion, taskEvents } from '../../task/task-events.ts'
import { taskReports } from '../../task/task-reports.ts'
import { tallyFrom } from '../../task/telemetry/task-metrics.ts'
import type { VerifierStatus } from '../../verifier/contract.ts'
import type { CliContext } from '../context.ts'
import { leftByWorker, paintState } from './print-tasks.ts'
import { withTaskQueue } from './task-queue.ts'

interface ShowFlags {
  readonly json?: boolean
  readonly diff?: boolean
  readonly report?: boolean
}

export function taskShowCommand(context: CliContext): Command {
  return new Command('show')
    .description('Show a task: its state, verifications, summary or stuck report, and its diff.')
    .argument('<task>', 'its id, an unambiguous part of it, its position, or "latest" of this repository')
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
    .action((name: string, flags: ShowFlags) => showTask(name, flags, context))
}

function showTask(name: string, { json, diff, report }: ShowFlags, context: CliContext): Promise<void> {
  return withTaskQueue(context, (queue, store) => {
    const task = findTask(queue, name, context.cwd)
    const { summary, stuckReport, ...kept } = taskReports(store, task)
    // An empty one is none.
    const changes = (kept.diff ?? lastDiff(queue, task.id)) || null
    const text = summary ?? stuckReport
    const { stdout } = context
    if (diff === true) return stdout.write(existing(changes, task, 'diff'))
    if (report === true) return stdout.write(existing(text, task, 'report'))
    const verifications = verificationsOf(task, queue)
    if (json === true) {
      const document = { task, verifications, summary, stuck_report: stuckReport, diff: changes }
      return stdout.write(`${JSON.stringify(document)}\n`)
    }
    const open = { question: openQuestion(queue, task), change: changeWords(changePlace(queue, task.id)) }
    for (const line of lines(task, verifications, open, store, stdout.color)) stdout.write(`${line}\n`)
    if (text !== null) stdout.write(`\n${plainText(text)}`)
    if (changes === null) return
    stdout.write(`\nSee the diff: gantry task show ${task.id} --diff\n`)
    const isKept = task.state === 'SUCCESS' && open.change === '' && task.task_run_id !== null
    if (isKept && readProposal(store, task.task_run_id) !== null)
      stdout.write(`Apply it with: gantry task apply ${task.id}\n`)
  })
}

function existing(text: string | null, { id, state }: QueuedTask, what: string): string {
  if (text !== null) return text.endsWith('\n') ? text : `${text}\n`
  throw new GantryError('NOT_FOUND', `task ${id} is ${state} and has no ${what}`, {
    hint: 'See what there is with gantry task show, and what happened with gantry task logs.',
  })
}

interface Verification {
  readonly run_id: string
  /** null while it runs, or when its events are no longer in the queue. */
  readonly status: VerifierStatus | null
}

function verificationsOf({ id, run_ids }: QueuedTask, queue: TaskQueue): readonly Verification[] {
  const statuses = new Map<string | null, VerifierStatus>()
  for (const { event } of taskEvents(queue, id))
    if (event.kind === 'verifier_result') statuses.set(event.run_id, event.status)
  return run_ids.map((run_id) => ({ run_id, status: statuses.get(run_id) ?? null }))
}

function lines(
  task: QueuedTask,
  verifications: readonly Verification[],
  { question, change }: { readonly question: string | null; readonly change: string },
  store: Store,
  color: boolean,
): readonly string[] {
  const { bold, dim, green, red, yellow } = createColors(color)
  const paints = { PASS: green, FAIL: red, INFRA_ERROR: yellow }
  const row = (title: string, text: string): string => `${dim(title.padEnd(13))} ${text}`
  const tally = tallyFrom(task.metrics)
  const where = task.position === null ? '' : `, position ${task.position}`
  const phase = task.abandoned ? leftByWorker : task.phase === null ? '' : ` ${task.phase}`
  return [
    bold(plainLine(task.description.split('\n')[0] ?? '')),
    row('task', `${task.id}${task.dry_run ? ' (dry run)' : ''}`),
    row('state', `${paintState(task.state, task.state, color)}${phase}${where}`),
    ...(task.abandoned ? [row('resume with', 'gantry task work')] : []),
    ...(question === null
      ? []
      : [row('question', plainLine(question)), row('answer with', `gantry task tell ${task.id} "…"`)]),
    row('repository', plainLine(task.repository)),
    ...(task.error_message === null
      ? []
      : [row(task.state === 'SUCCESS' ? 'accepted' : 'why', plainLine(task.error_message))]),
    ...(change === '' ? [] : [row('change', plainLine(change))]),
    ...(task.current_attempt === 0 ? [] : [row('attempts', `${task.current_attempt} of 12`)]),
    ...verifications.map(({ run_id, status }) =>
      row('verification', status === null ? run_id : `${run_id} ${paints[status](status)}`),
    ),
    ...(task.task_run_id === null ? [] : [row('run', join(store.runsDir, task.task_run_id))]),
    ...(tally === null
      ? []
      : [row('took', `${formatDuration(tally.duration_ms)}, ${formatCost(tally.cost_usd)}`)]),
  ]
}
