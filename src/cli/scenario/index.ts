import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { checkCommand } from './check.ts'
import { fromSessionCommand } from './from-session.ts'
import { listCommand } from './list.ts'
import { newCommand } from './new.ts'
import { showCommand } from './show.ts'
import { validateCommand } from './validate.ts'

export function scenarioCommand(context: CliContext): Command {
  return new Command('scenario')
    .addCommand(listCommand(context))
    .addCommand(showCommand(context))
    .addCommand(validateCommand(context))
    .addCommand(checkCommand(context))
    .addCommand(newCommand(context))
    .addCommand(fromSessionCommand(context))
}
