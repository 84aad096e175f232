import { Command } from 'commander'
import { loopLimits } from '../../task/contract.ts'
import type { CliContext } from '../context.ts'
import { helpParagraphs } from '../help-paragraphs.ts'
import { type TaskFlags, withTaskFlags } from './task-flags.ts'

export const taskExitCodes =
  'Exit codes: 0 verified, or the proposal is ready · 1 stuck · 2 bad usage · 3 infrastructure · 130 cancelled or interrupted'

/** For a person who was told that the task is missing. */
export function taskExamples(command: 'run' | 'submit'): string {
  return `Examples:
  gantry task ${command} "parseDuration must also take several units, such as 1h30m."
  gantry task ${command} - < task.md`
}

const { replanAfter, hardStopAt } = loopLimits

export function taskRunCommand(context: CliContext): Command {
  return withTaskFlags(
    new Command('run')
      .description('Do a coding task, verified in a sandbox before it is called done.')
      .argument('<task...>', 'what to do; "-" reads it from standard input'),
  )
    .optionsGroup('What comes out:')
    .option('--dry-run', 'propose a diff and change nothing; gantry task apply brings it in')
    .option('-v, --verbose', 'also what the agent does and what the steps print')
    .option('--json', 'print one JSON event per line and nothing else on standard output')
    .addHelpText(
      'after',
      helpParagraphs(
        `The task waits for its turn in its repository, then two Scouts look at the code, the Editor changes it, and the steps of agent.yaml are run in a sandbox. What fails is debugged: a new strategy after ${replanAfter} failures in a row, the end after ${hardStopAt}. Nobody but the sandbox calls it done.`,
        'Sections of the text are heeded: Constraints, Non-goals and Boundaries, each followed by a list.\nCtrl-C cancels the task; its changes stay in the working tree.',
        taskExamples('run'),
        taskExitCodes,
      ),
    )
    .action(async (words: readonly string[], flags: TaskFlags) => {
      const { runTaskCommand } = await import('./run-task-command.ts')
      await runTaskCommand(words, flags, context)
    })
}
