import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { type TaskFlags, withTaskFlags } from './task-flags.ts'

export const taskExitCodes =
  'Exit codes: 0 verified, or the proposal is ready · 1 stuck · 2 bad usage · 3 infrastructure · 130 cancelled or interrupted'

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
      `
The task waits for its turn in its repository, then two Scouts look at the code, the Editor changes it, and the steps of agent.yaml are run
in a sandbox. What fails is debugged: a new strategy after 3 failures in a row, the end after 12. Nobody but the sandbox calls it done.
Sections of the text are heeded: Constraints, Non-goals and Boundaries, each followed by a list.
Ctrl-C cancels the task; its changes stay in the working tree.

${taskExitCodes}`,
    )
    .action(async (words: readonly string[], flags: TaskFlags) => {
      const { runTaskCommand } = await import('./run-task-command.ts')
      await runTaskCommand(words, flags, context)
    })
}
