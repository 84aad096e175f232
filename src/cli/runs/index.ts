import { Command } from 'commander'
import type { CliContext } from '../context.ts'
import { blessCommand } from './bless.ts'
import { cleanCommand } from './clean.ts'
import { exportCommand } from './export.ts'
import { listCommand } from './list.ts'
import { pinCommand } from './pin.ts'
import { reindexCommand } from './reindex.ts'
import { reportCommand } from './report.ts'
import { showCommand } from './show.ts'
import { unblessCommand } from './unbless.ts'
import { unpinCommand } from './unpin.ts'

/** `gantry runs`: everything about what is stored. */
export function runsCommand(context: CliContext): Command {
  const command = new Command('runs').description('List, show, report, export, keep and clean stored runs.')
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
