import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { explainCommand } from './explain.ts'
import { hookCommand } from './hook.ts'
import { installCommand, uninstallCommand } from './install.ts'
import { lockCommand, sealCommand, seenCommand, unlockCommand, waiveCommand } from './person-commands.ts'
import { proveCommand } from './prove.ts'
import { simulateCommand } from './simulate.ts'
import { statusCommand } from './status.ts'
import { traceCommand } from './trace.ts'
import { verifyCommand } from './verify.ts'

export function guardCommand(context: CliContext): Command {
  const command = new Command('guard')
  for (const create of [
    installCommand,
    uninstallCommand,
    statusCommand,
    proveCommand,
    verifyCommand,
    traceCommand,
    explainCommand,
    simulateCommand,
    unlockCommand,
    lockCommand,
    sealCommand,
    waiveCommand,
    seenCommand,
    hookCommand,
  ]) {
    command.addCommand(create(context))
  }
  return command
}
