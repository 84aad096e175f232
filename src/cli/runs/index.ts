import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { cleanCommand } from './clean.ts'
import { exportCommand } from './export.ts'
import { blessCommand, pinCommand, unblessCommand, unpinCommand } from './flag-commands.ts'
import { listCommand } from './list.ts'
import { reindexCommand } from './reindex.ts'
import { reportCommand } from './report.ts'
import { showCommand } from './show.ts'

/** `gantry runs`: everything about what is stored. */
export function runsCommand(context: CliContext): Command {
  const command = new Command('runs')
  for (const create of [
    listCommand,
    showCommand,
    reportCommand,
    exportCommand,
    cleanCommand,
    pinCommand,
    unpinCommand,
    blessCommand,
    unblessCommand,
    reindexCommand,
  ]) {
    command.addCommand(create(context))
  }
  return command
}
