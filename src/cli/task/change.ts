import { Command } from 'commander'
import { counted } from '../../core/counted.ts'
import { defined } from '../../core/json-fields.ts'
import { findTask } from '../../task/find-task.ts'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { continueTask } from './continue-task.ts'
import { type TaskFlags, taskExitCodes } from './task-flags.ts'
import { withTaskQueue } from './task-queue.ts'

const which = 'its id, an unambiguous part of it, or "latest" of this repository'

export function taskApplyCommand(context: CliContext): Command {
  return new Command('apply')
    .description(
      'Write the change of a verified task into your tree, or apply and verify the proposal of a dry run.',
    )
    .argument('<task>', which)
    .option('-v, --verbose', 'also print what the agent does and what the steps print')
    .option('--json', 'print JSON and nothing else on standard output')
    .addHelpText(
      'after',
      helpParagraphs(
        'The change of a verified task is merged into your tree: other changes stay, and nothing is changed when the same lines are different now. Nothing of a dry run is applied when one of its files has changed since.',
        'Example:\n  gantry task apply latest',
        taskExitCodes,
      ),
    )
    .action(async (name: string, flags: Pick<TaskFlags, 'json' | 'verbose'>) => {
      const isDry = await withTaskQueue(context, (queue) => findTask(queue, name, context.cwd).dry_run)
      await (isDry
        ? continueTask('apply', name, flags, context)
        : changeTree('applied', name, flags, context))
    })
}

export function taskUndoCommand(context: CliContext): Command {
  return new Command('undo')
    .description('Take the change of a task out of your tree again. Your other changes stay.')
    .argument('<task>', which)
    .option('--json', 'print JSON and nothing else on standard output')
    .action((name: string, flags: Pick<TaskFlags, 'json'>) => changeTree('undone', name, flags, context))
}

async function changeTree(
  fate: 'applied' | 'undone',
  name: string,
  { json }: Pick<TaskFlags, 'json'>,
  context: CliContext,
): Promise<void> {
  const { applyChange } = await import('../../task/apply-change.ts')
  await withTaskQueue(context, async (queue, store) => {
    const task = findTask(queue, name, context.cwd)
    const { files, isNew } = await applyChange({ store, queue, env: context.env }, task, fate)
    const { id, repository } = task
    const done = { applied: `was applied to ${repository}`, undone: `was taken out of ${repository}` }
    const same = { applied: `is already in ${repository}`, undone: `is not in ${repository}` }
    const said = isNew ? `${done[fate]}: ${counted(files.length, 'file')}` : `${same[fate]}: nothing to do`
    context.stdout.write(
      json === true
        ? `${JSON.stringify({ task_id: id, what: fate, changed: isNew, files })}\n`
        : `The change of ${id} ${said}.\n`,
    )
  })
}

export function taskCommitCommand(context: CliContext): Command {
  return new Command('commit')
    .description(
      'Commit the change of a verified task on a new branch. Your tree, index and HEAD stay as they are.',
    )
    .argument('<task>', which)
    .option('--branch <name>', 'name of the branch (default: gantry/TASK)')
    .option('-m, --message <text>', 'commit message (default: the first line of the task)')
    .option('--json', 'print JSON and nothing else on standard output, with title and body of a pull request')
    .addHelpText(
      'after',
      helpParagraphs(
        'The commit is on top of the one that the task started from. It is made without your hooks, so that nothing runs in your tree.',
        'Example:\n  gantry task commit latest\n  gantry task commit latest --json | jq -r .body > body.md',
      ),
    )
    .action(async (name: string, { branch, message, json }: CommitFlags) => {
      const { commitChange } = await import('../../task/apply-change.ts')
      await withTaskQueue(context, async (queue, store) => {
        const task = findTask(queue, name, context.cwd)
        const place = { store, queue, env: context.env }
        const committed = await commitChange(place, task, defined({ branch, message }))
        if (json === true)
          return context.stdout.write(`${JSON.stringify({ task_id: task.id, ...committed })}\n`)
        context.stdout.write(
          `Committed as ${committed.commit.slice(0, 10)} on ${committed.branch}. Merge it with: git merge ${committed.branch}\n\n${committed.body}`,
        )
      })
    })
}

interface CommitFlags extends Pick<TaskFlags, 'json'> {
  readonly branch?: string
  readonly message?: string
}

export function taskDropCommand(context: CliContext): Command {
  return new Command('drop')
    .description(
      'Stop keeping the change of a task or the proposal of a dry run. The retention may remove it then.',
    )
    .argument('<task>', which)
    .option('--json', 'print JSON and nothing else on standard output')
    .action(async (name: string, { json }: Pick<TaskFlags, 'json'>) => {
      const { dropChange } = await import('../../task/apply-change.ts')
      await withTaskQueue(context, (queue, store) => {
        const task = findTask(queue, name, context.cwd)
        dropChange({ store, queue }, task)
        context.stdout.write(
          json === true
            ? `${JSON.stringify({ task_id: task.id, what: 'dropped' })}\n`
            : `The change of ${task.id} is not kept any longer.\n`,
        )
      })
    })
}
