import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { explainCommand } from './explain.ts'
import { hookCommand } from './hook.ts'
import { installCommand } from './install.ts'
import { lockCommand } from './lock.ts'
import { proveCommand } from './prove.ts'
import { sealCommand } from './seal.ts'
import { simulateCommand } from './simulate.ts'
import { statusCommand } from './status.ts'
import { traceCommand } from './trace.ts'
import { uninstallCommand } from './uninstall.ts'
import { unlockCommand } from './unlock.ts'
import { verifyCommand } from './verify.ts'
import { waiveCommand } from './waive.ts'

/** `gantry guard`: hooks that hold a coding agent to its word. */
export function guardCommand(context: CliContext): Command {
  const command = new Command('guard').description(
    'Hold a coding agent to its word with hooks: install, look after, unlock and explain them.',
  )
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
    hookCommand,
  ]) {
    command.addCommand(create(context))
  }
  return command
}
