import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { planRunCommand } from './run.ts'

/** `gantry plan`: work through a plan with an agent, task by task, each verified before it counts. */
export function planCommand(context: CliContext): Command {
  const command = new Command('plan').description(
    'Work through IMPLEMENTATION_PLAN.md with an agent: one task at a time, verified before it counts as done.',
  )
  command.addCommand(planRunCommand(context))
  return command
}
