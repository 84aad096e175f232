import { Command } from 'commander'
import { type ExitCode, exitCode } from '../../core/exit-code.ts'
import { shortenEnd } from '../../report/display-width.ts'
import { plainLine, plainText } from '../../report/plain-text.ts'
import type { Store } from '../../store/contract.ts'
import type { FinalState, TaskQueue, TaskRecord } from '../../store/queue/contract.ts'
import { changePlace } from '../../task/apply-change.ts'
import { loopLimits, type TaskEvent } from '../../task/contract.ts'
import type { TaskSubmission } from '../../task/worker/submit-task.ts'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { fitLines } from './fit-lines.ts'
import { taskEventPrinter } from './task-event-printer.ts'
import { type TaskFlags, taskExamples, taskExitCodes, withTaskFlags } from './task-flags.ts'
import { hasWork, startWorker, withTaskQueue } from './task-queue.ts'
import { queueTask, taskSubmission, withQueueAddress } from './task-submission.ts'

const { replanAfter, hardStopAt } = loopLimits

export function taskRunCommand(context: CliContext): Command {
  return withTaskFlags(
    new Command('run')
      .description('Do a coding task and verify it in a sandbox before it counts as done.')
      .argument('<task...>', 'what to do; "-" reads it from standard input'),
  )
    .optionsGroup('Output:')
    .option('--dry-run', 'propose a diff, verify it once and change nothing; gantry task apply applies it')
    .option('-v, --verbose', 'also print what the agent does and what the steps print')
    .option('--json', 'print one JSON event per line and nothing else on standard output')
    .addHelpText(
      'after',
      helpParagraphs(
        `The task waits for its turn in its repository. Then two Scouts read the code, the Editor changes it, and the steps of agent.yaml run in a sandbox. Failures are debugged: after ${replanAfter} in a row with a new strategy, until ${hardStopAt} verifications have failed. A task is done only when every step passes.`,
        'The task works in a tree of its own that starts from the last commit, with the files that git ignores. Your tree is changed only by --here, --apply or gantry task apply.',
        'The text may have the sections Constraints, Non-goals and Boundaries, each followed by a list.\nCtrl-C cancels the task.',
        taskExamples('run'),
        taskExitCodes,
      ),
    )
    .action(async (words: readonly string[], flags: TaskFlags) => {
      const submission = await taskSubmission(words, flags, context)
      await runToEnd(submission, flags, withQueueAddress(context, flags))
    })
}

const exitCodes = {
  SUCCESS: exitCode.pass,
  WEAKENED: exitCode.failed,
  NO_CHANGE: exitCode.failed,
  STUCK: exitCode.failed,
  INFRA_ERROR: exitCode.infra,
  CANCELLED: exitCode.interrupted,
} as const

/** Queues a task and works on the queue of its repository until the task has ended, here or in another process. Prints its events. */
export async function runToEnd(
  submission: TaskSubmission,
  { json, verbose }: Pick<TaskFlags, 'json' | 'verbose'>,
  context: CliContext,
): Promise<void> {
  const { workUntilEnded } = await import('../../task/worker/work-until-ended.ts')
  await withTaskQueue(context, async (queue, store) => {
    const task = await queueTask(queue, submission, context)
    const print =
      json === true
        ? (event: TaskEvent) => context.stdout.write(`${JSON.stringify(event)}\n`)
        : taskEventPrinter(context, { verbose: verbose === true })
    if (json !== true && task.position !== 1)
      context.stderr.write(`${task.id} waits at position ${task.position}.\n`)
    const ended = await workUntilEnded(
      task,
      {
        queue: json === true ? queue : sayingOthers(queue, task.id, context),
        store,
        env: context.env,
        argv: ['gantry', 'task'],
      },
      { signal: context.signal, onEvent: print },
    )
    const state = (ended?.state ?? 'CANCELLED') as FinalState
    if (json === true && ended === null)
      context.stdout.write(`${JSON.stringify({ kind: 'task_ended', task_id: task.id, state })}\n`)
    const isMissing = ended !== null && state === 'SUCCESS' && (await isNotApplied(ended, queue, store))
    if (json !== true) await printEnd(ended, store, context, isMissing)
    context.setExitCode(
      (await proposalExit(ended, store)) ?? (isMissing ? exitCode.failed : exitCodes[state]),
    )
    if (hasWork(queue)) startWorker(context)
  })
}

/** The same queue. Says which other task of the repository this process does first, and why. */
export function sayingOthers(
  queue: TaskQueue,
  own: string,
  { stderr }: Pick<CliContext, 'stderr'>,
): TaskQueue {
  return {
    ...queue,
    claim: (options) => {
      const claimed = queue.claim(options)
      if (claimed !== null && claimed.task.id !== own) {
        const { id, description } = claimed.task
        const what = claimed.resumed
          ? `Resumes ${id} first, left by its worker`
          : `Does ${id} first, which was queued before`
        stderr.write(`${what}: ${shortenEnd(plainLine(description), 80)}\n`)
      }
      return claimed
    },
  }
}

/** It was asked for with --apply, and your tree had other lines by then. A task that worked in your tree has nothing to apply. */
async function isNotApplied(task: TaskRecord, queue: TaskQueue, store: Store): Promise<boolean> {
  const { id, options, dry_run, task_run_id } = task
  if (options.apply !== true || dry_run || task_run_id === null) return false
  const { readProposal } = await import('../../task/dry-run/proposal.ts')
  return readProposal(store, task_run_id) !== null && !changePlace(queue, id).isApplied
}

/** Of a dry run whose proposal did not pass; null for every other end. */
async function proposalExit(task: TaskRecord | null, store: Store): Promise<ExitCode | null> {
  if (task?.dry_run !== true || task.task_run_id === null) return null
  const { readProposal } = await import('../../task/dry-run/proposal.ts')
  const { verification } = readProposal(store, task.task_run_id) ?? {}
  if (verification?.status === 'INFRA_ERROR') return exitCode.infra
  const { status = 'PASS', weakened = [] } = verification ?? {}
  return status === 'PASS' && weakened.length === 0 ? null : exitCode.failed
}

async function printEnd(
  task: TaskRecord | null,
  store: Store,
  context: CliContext,
  isMissing: boolean,
): Promise<void> {
  const { taskReports } = await import('../../task/task-reports.ts')
  const { readProposal } = await import('../../task/dry-run/proposal.ts')
  const say = (...lines: readonly string[]): void =>
    context.stdout.write(`\n${lines.flatMap((line) => fitLines(line, context)).join('\n')}\n`)
  if (task === null) {
    context.stdout.write('The task was removed from the queue.\n')
    return
  }
  const { id, state } = task
  const { summary, stuckReport, diff } = taskReports(store, task)
  if (summary !== null) context.stdout.write(`\n${plainText(summary)}`)
  if (stuckReport !== null)
    say(
      `Read the report: gantry task show ${id} --report`,
      `Retry after fixing the cause: gantry task retry ${id}`,
    )
  if (state === 'CANCELLED' && task.options.here === true && task.started_at !== null)
    say(`What was changed so far is in your tree. See it with: gantry task show ${id} --diff`)
  const kept = task.task_run_id === null ? null : readProposal(store, task.task_run_id)
  if (kept !== null && !task.dry_run && state === 'SUCCESS' && (isMissing || task.options.apply !== true)) {
    const commit = kept.commit == null ? [] : [`Or commit it on a branch: gantry task commit ${id}`]
    say(`Your tree is unchanged. Apply the change with: gantry task apply ${id}`, ...commit)
  }
  if (task.dry_run && diff !== null) {
    context.stdout.write(`\n${plainText(diff)}`)
    say(`Nothing was changed. Apply it with: gantry task apply ${id}`)
  }
}
